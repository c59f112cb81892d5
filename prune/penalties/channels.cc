#include "prune/penalties/channels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "prune/structure/groups.h"
#include "prune/structure/propagate.h"

namespace mlopt::prune {
namespace {

double mean_norm(const Member& m, const Tensor& tensor) {
  if (m.dims.size() < 2) return 0;
  const std::vector<double> numbers = to_doubles(tensor);
  const auto inner = static_cast<size_t>(row_major_strides(m.dims)[m.axis]);
  const auto size = static_cast<size_t>(m.dims[m.axis]);
  size_t channels = 0;
  for (const int64_t c : m.channel_of) channels = std::max(channels, static_cast<size_t>(c));
  std::vector<double> squares(channels + 1);
  for (size_t i = 0; i < numbers.size(); ++i)
    squares[static_cast<size_t>(m.channel_of[i / inner % size])] += numbers[i] * numbers[i];
  const size_t of = m.positions.size() == size ? squares.size() : squares.size() - 1;
  double sum = 0;
  for (size_t c = 0; c < of; ++c) sum += std::sqrt(squares[c]);
  return sum / static_cast<double>(of);
}

/// Nothing where channels have unequal parts of an axis.
std::vector<Member> members_of(const Group& group, const Relations& all,
                               const std::function<bool(const std::string&)>& trains) {
  std::vector<Member> members;
  for (const size_t a : group.axes) {
    const Axis& axis = all.atoms.axes()[a];
    if (!axis.value->is_initializer() || !trains(axis.value->name)) continue;
    const auto channels = static_cast<int64_t>(group.channels.size());
    Member m{axis.value->name, static_cast<size_t>(axis.axis), axis.value->constant->dims(), {}, {}};
    m.channel_of.assign(static_cast<size_t>(axis.size), channels);
    std::vector<int64_t> counts;
    for (int64_t c = 0; c < channels; ++c) {
      int64_t& count = counts.emplace_back(0);
      for (const auto& [on, position] : group.channels[static_cast<size_t>(c)]) {
        if (on != a) continue;
        m.positions.push_back(position);
        m.channel_of[static_cast<size_t>(position)] = c;
        ++count;
      }
    }
    if (std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to()) != counts.end()) return {};
    if (m.positions.empty()) continue;
    m.mean = mean_norm(m, *axis.value->constant);
    members.push_back(std::move(m));
  }
  return members;
}

/// The norm of each channel's part of `w`, [channels].
Value* norms(train::Builder& b, const Member& m, Value* w, int64_t channels) {
  std::vector<int64_t> others(m.dims.size());
  std::iota(others.begin(), others.end(), 0);
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(m.axis));
  Value* sums = b.op("ReduceSumSquare", {w, b.indices(others)}, {{"keepdims", int64_t{0}, {}}});
  Value* own = b.op("Reshape", {b.op("Gather", {sums, b.indices(m.positions)}), b.indices({channels, -1})});
  return b.op("Sqrt", {b.op("ReduceSum", {own, b.indices({1})}, {{"keepdims", int64_t{0}, {}}})});
}

}  // namespace

std::vector<TrainedGroup> trained_groups(const Model& model, const Spec& spec,
                                         const std::function<bool(const std::string&)>& trains) {
  Model typed = clone(model);
  infer(typed, standard_types);
  const bool heads = spec.granularity.name == "head";
  const Relations all = relate_axes(typed, heads ? SplitBy::kOuter : SplitBy::kInner);
  std::vector<TrainedGroup> groups;
  for (const Group& group : find_groups(all).groups) {
    if (group.heads != heads) continue;
    TrainedGroup trained{members_of(group, all, trains), static_cast<int64_t>(group.channels.size())};
    const auto& members = trained.members;
    if (std::any_of(members.begin(), members.end(), [](const Member& m) { return m.mean > 0; }))
      groups.push_back(std::move(trained));
  }
  return groups;
}

Value* sizes(train::Builder& b, const TrainedGroup& group, const std::function<Value*(const std::string&)>& value) {
  std::vector<Value*> terms;
  for (const Member& m : group.members)
    if (m.mean > 0) terms.push_back(b.op("Div", {norms(b, m, value(m.name), group.channels), b.number(m.mean)}));
  return b.op("Div", {b.op("Sum", terms), b.number(static_cast<double>(terms.size()))});
}

Value* scaled(train::Builder& b, const Member& m, Value* w, Value* factors) {
  Value* all =
      b.op("Concat", {factors, b.graph().add_constant("one", Tensor::of<float>({1}, {1}))}, {{"axis", int64_t{0}, {}}});
  std::vector<int64_t> shape(m.dims.size(), 1);
  shape[m.axis] = m.dims[m.axis];
  return b.op("Mul", {w, b.op("Reshape", {b.op("Gather", {all, b.indices(m.channel_of)}), b.indices(shape)})});
}

}  // namespace mlopt::prune
