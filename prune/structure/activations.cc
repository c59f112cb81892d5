#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"
#include "prune/moments.h"
#include "prune/structure/channel_methods.h"

namespace mlopt::prune {
namespace {

/// What a layer gives behind its normalization and activation: the last value on a path of nodes that work element by
/// element, each the only reader of the one before.
const Value* behind_activation(const Node& layer) {
  const Value* v = layer.output(0);
  while (v->single_use()) {
    const Node& next = *v->uses[0].node;
    const bool goes_on = next.is("BatchNormalization") || next.is("Relu") || next.is("LeakyRelu") || next.is("Clip") ||
                         next.is("Sigmoid") || next.is("Tanh") || next.is("Gelu") || next.is("HardSwish") ||
                         next.is("Elu");
    if (!goes_on || v->uses[0].index != 0 || next.graph() != layer.graph()) break;
    v = next.output(0);
  }
  return v;
}

/// The mean of f(x) along the axes of what the groups' layers give.
template <class F>
AxisScores means_of(const ChannelEvidence& e, const F& f) {
  std::vector<std::string> names;
  std::vector<std::pair<size_t, size_t>> axes;  // number, which of the value
  for (const Group& group : e.groups)
    for (const Node* node : group.nodes) {
      const Value* seen = behind_activation(*node);
      for (const size_t a : group.axes) {
        const Axis& axis = e.all.atoms.axes()[a];
        if (axis.value != seen || seen->graph != e.model.graph.get()) continue;
        if (std::find(names.begin(), names.end(), seen->name) != names.end()) continue;
        names.push_back(seen->name);
        axes.emplace_back(a, static_cast<size_t>(axis.axis));
      }
    }
  AxisScores sums;
  if (names.empty()) return sums;
  each_value(e.model, names, e.means, [&](size_t i, const Tensor& tensor) {
    const auto n = static_cast<size_t>(tensor.dim(static_cast<int>(axes[i].second)));
    const auto inner = static_cast<size_t>(row_major_strides(tensor.dims())[axes[i].second]);
    const std::vector<double> numbers = to_doubles(tensor);
    std::vector<double>& sum = sums[axes[i].first];
    sum.resize(n);
    for (size_t k = 0; k < numbers.size(); ++k)
      sum[k / inner % n] += f(numbers[k]) * static_cast<double>(n) / static_cast<double>(numbers.size());
  });
  return sums;
}

}  // namespace

AxisScores mean_activation(const ChannelEvidence& evidence) {
  return means_of(evidence, [](double x) { return std::abs(x); });
}

AxisScores not_zero(const ChannelEvidence& evidence) {
  return means_of(evidence, [](double x) { return x == 0 ? 0 : 1; });
}

}  // namespace mlopt::prune
