#include "prune/structure/loss_score.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"
#include "prune/structure/member_weight.h"

namespace mlopt::prune {
namespace {

/// A weight, and those of its axes that are asked for.
struct Asked {
  std::string name;
  std::vector<float> numbers;
  Dims dims;
  std::vector<std::pair<size_t, int>> axes;  ///< their numbers; which of the weight they are
};

std::vector<Asked> asked_of(const Relations& all, const std::vector<Group>& groups) {
  std::vector<Asked> asked;
  for (const Group& group : groups)
    for (const size_t a : group.axes) {
      const Axis& axis = all.atoms.axes()[a];
      if (axis.value->producer || !member_weight(axis)) continue;
      const auto same = [&](const Asked& one) { return one.name == axis.value->name; };
      auto at = std::find_if(asked.begin(), asked.end(), same);
      if (at == asked.end()) {
        const Tensor& weight = *axis.value->constant;
        at = asked.insert(at, {axis.value->name, to_floats(weight), weight.dims(), {}});
      }
      if (std::find(at->axes.begin(), at->axes.end(), std::pair{a, axis.axis}) == at->axes.end())
        at->axes.emplace_back(a, axis.axis);
    }
  return asked;
}

/// Of what is summed over all but an axis.
std::vector<double> sums_along(const std::vector<double>& numbers, const Dims& dims, int axis) {
  const auto n = static_cast<size_t>(dims[static_cast<size_t>(axis)]);
  const auto inner = static_cast<size_t>(row_major_strides(dims)[static_cast<size_t>(axis)]);
  std::vector<double> sums(n);
  for (size_t i = 0; i < numbers.size(); ++i) sums[i / inner % n] += numbers[i];
  return sums;
}

}  // namespace

std::pair<AxisScores, int64_t> loss_scores(const Model& model, const Relations& all, const std::vector<Group>& groups,
                                           bool squared, const Means& means) {
  const std::vector<Asked> asked = asked_of(all, groups);
  std::vector<std::string> names;
  AxisScores scores;
  for (const Asked& one : asked) {
    names.push_back(one.name);
    for (const auto& [number, axis] : one.axes) scores[number].resize(static_cast<size_t>(one.dims[axis]));
  }
  const int64_t samples = each_slope(model, names, means, [&](size_t i, const Tensor& gradient) {
    std::vector<double> products = to_doubles(gradient);
    for (size_t k = 0; k < products.size(); ++k) {
      products[k] *= static_cast<double>(asked[i].numbers[k]);
      if (squared) products[k] *= products[k];
    }
    for (const auto& [number, axis] : asked[i].axes) {
      const std::vector<double> sums = sums_along(products, asked[i].dims, axis);
      for (size_t k = 0; k < sums.size(); ++k) scores[number][k] += std::abs(sums[k]);
    }
  });
  for (auto& [number, score] : scores)
    for (double& x : score) x /= static_cast<double>(samples);
  return {std::move(scores), samples};
}

}  // namespace mlopt::prune
