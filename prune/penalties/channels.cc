#include "prune/penalties/channels.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "prune/structure/groups.h"
#include "prune/structure/propagate.h"
#include "prune/structure/tidy.h"

namespace mlopt::prune {
namespace {

std::vector<double> norms_of(const Member& m, const Tensor& tensor, int64_t channels) {
  const std::vector<double> numbers = to_doubles(tensor);
  const auto inner = static_cast<size_t>(row_major_strides(m.dims)[m.axis]);
  const auto size = static_cast<size_t>(m.dims[m.axis]);
  std::vector<double> squares(static_cast<size_t>(channels) + 1);  // the last: of no channel
  for (size_t i = 0; i < numbers.size(); ++i)
    squares[static_cast<size_t>(m.channel_of[i / inner % size])] += numbers[i] * numbers[i];
  squares.pop_back();
  for (double& x : squares) x = std::sqrt(x);
  return squares;
}

double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(std::max<size_t>(1, x.size()));
}

/// Is there a number of it for each channel that the channel is multiplied by?
bool is_scale(const Axis& axis) {
  const auto multiplies = [&](const Use& use) {
    const Node& node = *use.node;
    if (node.is("BatchNormalization") || node.is("InstanceNormalization")) return use.index == 1;
    return node.is("Mul") && axis.value->constant->size() == axis.size;
  };
  return std::any_of(axis.value->uses.begin(), axis.value->uses.end(), multiplies);
}

/// Nothing where channels have unequal parts of an axis.
std::vector<Member> members_of(const Group& group, const Relations& all,
                               const std::function<bool(const std::string&)>& trains) {
  std::vector<Member> members;
  for (const size_t a : group.axes) {
    const Axis& axis = all.atoms.axes()[a];
    if (!axis.value->is_initializer() || !trains(axis.value->name)) continue;
    const auto channels = static_cast<int64_t>(group.channels.size());
    Member m;
    m.name = axis.value->name;
    m.axis = static_cast<size_t>(axis.axis);
    m.dims = axis.value->constant->dims();
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
    m.norms = norms_of(m, *axis.value->constant, channels);
    m.mean = m.dims.size() < 2 || is_scale(axis) ? 0 : mean_of(m.norms);
    m.makes = axis.producer != nullptr;
    m.scale = is_scale(axis);
    members.push_back(std::move(m));
  }
  return members;
}

/// The norm of each channel's part of `w`, [channels].
Value* norms(train::Builder& b, const Member& m, Value* w, int64_t channels) {
  std::vector<int64_t> others(m.dims.size());
  std::iota(others.begin(), others.end(), 0);
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(m.axis));
  Value* sums = others.empty()  // of no axes is of all
                    ? b.op("Mul", {w, w})
                    : b.op("ReduceSumSquare", {w, b.indices(others)}, {{"keepdims", int64_t{0}, {}}});
  Value* own = b.op("Reshape", {b.op("Gather", {sums, b.indices(m.positions)}), b.indices({channels, -1})});
  return b.op("Sqrt", {b.op("ReduceSum", {own, b.indices({1})}, {{"keepdims", int64_t{0}, {}}})});
}

}  // namespace

std::vector<TrainedGroup> trained_groups(const Model& model, const Spec& spec,
                                         const std::function<bool(const std::string&)>& trains) {
  Model typed = clone(model);
  part_axes(typed, standard_types);
  const bool heads = spec.granularity.name == "head";
  const Relations all = relate_axes(typed, heads ? SplitBy::kOuter : SplitBy::kInner);
  std::vector<TrainedGroup> groups;
  for (const Group& group : find_groups(all).groups) {
    if (group.heads != heads || left_out(spec, names_of(all, group))) continue;
    TrainedGroup trained{members_of(group, all, trains), static_cast<int64_t>(group.channels.size())};
    const auto& members = trained.members;
    if (std::any_of(members.begin(), members.end(), [](const Member& m) { return m.mean > 0; }))
      groups.push_back(std::move(trained));
  }
  if (groups.empty())
    input_error(fmt::format("no {} that is trained can be removed", heads ? "attention head" : "channel"), model.path,
                "--explain with --method magnitude says what stays and why; --skip and --freeze leave out as well");
  return groups;
}

TrainedGroup scales_of(const TrainedGroup& group) {
  TrainedGroup scales{{}, group.channels};
  for (const Member& m : group.members)
    if (m.scale) scales.members.push_back(m);
  for (Member& m : scales.members) m.mean = mean_of(m.norms);
  std::erase_if(scales.members, [](const Member& m) { return m.mean == 0; });
  return scales;
}

std::vector<double> first_sizes(const TrainedGroup& group) {
  std::vector<double> sizes(static_cast<size_t>(group.channels));
  double count = 0;
  for (const Member& m : group.members) {
    if (m.mean == 0) continue;
    for (size_t c = 0; c < sizes.size(); ++c) sizes[c] += m.norms[c] / m.mean;
    ++count;
  }
  for (double& x : sizes) x /= std::max(1.0, count);
  return sizes;
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
