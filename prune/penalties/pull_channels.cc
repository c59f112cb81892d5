#include "prune/penalties/pull_channels.h"

#include <fmt/core.h>

#include <algorithm>

#include "prune/penalties/strength.h"

namespace mlopt::prune {
namespace {

Value* as_number(train::Builder& b, Value* flags) { return b.op("Cast", {flags}, {{"to", int64_t{1}, {}}}); }

/// Shrinks the channels of a group, of these sizes, that are smaller than `cut`; gives how many are zero now.
Value* shrink(train::Constraint& at, const PulledGroup& group, Value* size, Value* cut, const Strength& strength) {
  train::Builder& b = at.build;
  Value *zero = b.number(0), *one = b.number(1);
  Value* before = sizes(b, group.by, [&](const std::string& name) { return at.before(name); });
  Value* alive = as_number(b, b.op("Greater", {before, zero}));
  // max(0, 1 - strength / size), without a division by zero.
  Value* left = b.op("Relu", {b.op("Sub", {size, strength.now()})});
  Value* shrunk = b.op("Div", {left, b.op("Max", {size, b.number(1e-12)})});
  Value* pulled = b.op("Where", {b.op("Less", {size, cut}), shrunk, one});
  Value* factors = b.op("Where", {strength.frozen(), alive, pulled});
  Value* others = b.op("Where", {strength.frozen(), alive, one});
  for (const Member& m : group.whole.members) {
    const bool is_pulled = std::any_of(group.by.members.begin(), group.by.members.end(),
                                       [&](const Member& by) { return by.name == m.name && by.axis == m.axis; });
    at.replace(m.name, scaled(b, m, at.next(m.name), is_pulled ? factors : others));
  }
  return b.op("ReduceSum", {as_number(b, b.op("Equal", {factors, zero}))}, {{"keepdims", int64_t{0}, {}}});
}

void add_pool(train::Constraint& at, const std::string& name, std::span<const PulledGroup> pool,
              const PenaltyPlan& plan) {
  train::Builder& b = at.build;
  std::vector<Value*> all, zeros;
  int64_t total = 0;
  for (const PulledGroup& group : pool) {
    all.push_back(sizes(b, group.by, [&](const std::string& parameter) { return at.next(parameter); }));
    total += group.by.channels;
  }
  Strength strength(at, name, total, plan);
  Value* cut = strength.ramp().first_to_stay(b.op("Concat", all, {{"axis", int64_t{0}, {}}}));
  for (size_t i = 0; i < pool.size(); ++i) zeros.push_back(shrink(at, pool[i], all[i], cut, strength));
  strength.adapt(b.op("Sum", zeros));
}

}  // namespace

void pull_channels(train::Constraint& at, const std::vector<PulledGroup>& groups, bool together,
                   const PenaltyPlan& plan) {
  int64_t number = 0;
  for (const auto pool : pools_of(groups, together))
    add_pool(at, fmt::format("prune/strength/{}", number++), pool, plan);
}

}  // namespace mlopt::prune
