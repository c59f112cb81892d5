#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "prune/penalties.h"
#include "prune/structure/groups.h"
#include "prune/structure/propagate.h"

namespace mlopt::prune {
namespace {

/// The part that the channels of a group have of an axis of a parameter.
struct Member {
  std::string name;
  size_t axis = 0;
  Dims dims;
  std::vector<int64_t> positions;   ///< of the channels, one channel after the other, as many each
  std::vector<int64_t> channel_of;  ///< of each position of the axis: its channel, or their number: none
};

/// What of a group is trained; nothing where channels have unequal parts of an axis.
std::vector<Member> members_of(const Group& group, const Relations& all, const train::Constraint& at) {
  std::vector<Member> members;
  for (const size_t a : group.axes) {
    const Axis& axis = all.atoms.axes()[a];
    if (!axis.value->is_initializer() || !at.trains(axis.value->name)) continue;
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
    if (!m.positions.empty()) members.push_back(std::move(m));
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

/// `w` with each channel's part times its factor, [channels].
Value* scaled(train::Builder& b, const Member& m, Value* w, Value* factors) {
  Value* all =
      b.op("Concat", {factors, b.graph().add_constant("one", Tensor::of<float>({1}, {1}))}, {{"axis", int64_t{0}, {}}});
  std::vector<int64_t> shape(m.dims.size(), 1);
  shape[m.axis] = m.dims[m.axis];
  return b.op("Mul", {w, b.op("Reshape", {b.op("Gather", {all, b.indices(m.channel_of)}), b.indices(shape)})});
}

/// Channels of a group in the graph of updates. Weights of less than two axes (biases, normalizations) shrink with
/// them, but do not say how large a channel is.
struct Shrinking {
  std::vector<Member> members;
  int64_t channels = 0;
  std::vector<double> means;  ///< of each member's norms at first
};

/// The mean over weights of the norms of their parts, each over what it was on average at first: [channels].
Value* sizes(train::Constraint& at, const Shrinking& s, bool before) {
  train::Builder& b = at.build;
  std::vector<Value*> terms;
  for (size_t i = 0; i < s.members.size(); ++i) {
    if (s.means[i] == 0) continue;
    const Member& m = s.members[i];
    Value* w = before ? at.before(m.name) : at.next(m.name);
    terms.push_back(b.op("Div", {norms(b, m, w, s.channels), b.number(s.means[i])}));
  }
  return b.op("Div", {b.op("Sum", terms), b.number(static_cast<double>(terms.size()))});
}

Value* as_number(train::Builder& b, Value* flags) { return b.op("Cast", {flags}, {{"to", int64_t{1}, {}}}); }

/// Shrinks the channels of a group, of these sizes, that are smaller than `cut`; gives how many are zero now.
Value* shrink(train::Constraint& at, const Shrinking& s, Value* size, Value* cut, const Strength& strength) {
  train::Builder& b = at.build;
  Value* zero = b.number(0);
  Value* alive = as_number(b, b.op("Greater", {sizes(at, s, true), zero}));
  // max(0, 1 - strength / size), without a division by zero.
  Value* left = b.op("Relu", {b.op("Sub", {size, strength.now()})});
  Value* shrunk = b.op("Div", {left, b.op("Max", {size, b.number(1e-12)})});
  Value* pulled = b.op("Where", {b.op("Less", {size, cut}), shrunk, b.number(1)});
  Value* factors = b.op("Where", {strength.frozen(), alive, pulled});
  for (const Member& m : s.members) at.replace(m.name, scaled(b, m, at.next(m.name), factors));
  return b.op("ReduceSum", {as_number(b, b.op("Equal", {factors, zero}))}, {{"keepdims", int64_t{0}, {}}});
}

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

void add_pool(train::Constraint& at, const std::string& name, std::span<const Shrinking> pool,
              const PenaltyPlan& plan) {
  train::Builder& b = at.build;
  std::vector<Value*> all, zeros;
  int64_t total = 0;
  for (const Shrinking& s : pool) {
    all.push_back(sizes(at, s, false));
    total += s.channels;
  }
  Strength strength(at, name, total, plan);
  Value* cut = strength.first_to_stay(b.op("Concat", all, {{"axis", int64_t{0}, {}}}));
  for (size_t i = 0; i < pool.size(); ++i) zeros.push_back(shrink(at, pool[i], all[i], cut, strength));
  strength.adapt(b.op("Sum", zeros));
}

}  // namespace

void add_group_lasso(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan) {
  Model typed = clone(model);
  infer(typed, standard_types);
  const bool heads = spec.granularity.name == "head";
  const Relations all = relate_axes(typed, heads ? SplitBy::kOuter : SplitBy::kInner);
  std::vector<Shrinking> pool;
  for (const Group& group : find_groups(all).groups) {
    if (group.heads != heads) continue;
    Shrinking s{members_of(group, all, at), static_cast<int64_t>(group.channels.size()), {}};
    for (const Member& m : s.members) s.means.push_back(mean_norm(m, *typed.graph->find(m.name)->constant));
    if (std::any_of(s.means.begin(), s.means.end(), [](double m) { return m > 0; })) pool.push_back(std::move(s));
  }
  if (spec.allocation == "global") return add_pool(at, "prune/strength", pool, plan);
  for (const Shrinking& s : pool) add_pool(at, "prune/strength/" + s.members[0].name, {&s, 1}, plan);
}

}  // namespace mlopt::prune
