#include <fmt/core.h>

#include "prune/penalties.h"
#include "prune/penalties/channels.h"

namespace mlopt::prune {
namespace {

Value* as_number(train::Builder& b, Value* flags) { return b.op("Cast", {flags}, {{"to", int64_t{1}, {}}}); }

/// Shrinks the channels of a group, of these sizes, that are smaller than `cut`; gives how many are zero now.
Value* shrink(train::Constraint& at, const TrainedGroup& group, Value* size, Value* cut, const Strength& strength) {
  train::Builder& b = at.build;
  Value* zero = b.number(0);
  Value* before = sizes(b, group, [&](const std::string& name) { return at.before(name); });
  Value* alive = as_number(b, b.op("Greater", {before, zero}));
  // max(0, 1 - strength / size), without a division by zero.
  Value* left = b.op("Relu", {b.op("Sub", {size, strength.now()})});
  Value* shrunk = b.op("Div", {left, b.op("Max", {size, b.number(1e-12)})});
  Value* pulled = b.op("Where", {b.op("Less", {size, cut}), shrunk, b.number(1)});
  Value* factors = b.op("Where", {strength.frozen(), alive, pulled});
  for (const Member& m : group.members) at.replace(m.name, scaled(b, m, at.next(m.name), factors));
  return b.op("ReduceSum", {as_number(b, b.op("Equal", {factors, zero}))}, {{"keepdims", int64_t{0}, {}}});
}

void add_pool(train::Constraint& at, const std::string& name, std::span<const TrainedGroup> pool,
              const PenaltyPlan& plan) {
  train::Builder& b = at.build;
  std::vector<Value*> all, zeros;
  int64_t total = 0;
  for (const TrainedGroup& group : pool) {
    all.push_back(sizes(b, group, [&](const std::string& name) { return at.next(name); }));
    total += group.channels;
  }
  Strength strength(at, name, total, plan);
  Value* cut = strength.ramp().first_to_stay(b.op("Concat", all, {{"axis", int64_t{0}, {}}}));
  for (size_t i = 0; i < pool.size(); ++i) zeros.push_back(shrink(at, pool[i], all[i], cut, strength));
  strength.adapt(b.op("Sum", zeros));
}

}  // namespace

void add_group_lasso(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan) {
  const std::vector<TrainedGroup> groups =
      trained_groups(model, spec, [&](const std::string& name) { return at.trains(name); });
  int64_t number = 0;
  for (const auto pool : pools_of(groups, spec.allocation == "global"))
    add_pool(at, fmt::format("prune/strength/{}", number++), pool, plan);
}

}  // namespace mlopt::prune
