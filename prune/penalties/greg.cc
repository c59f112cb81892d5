#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/tensor/cast.h"
#include "prune/penalties.h"
#include "prune/penalties/channels.h"
#include "prune/penalties/elements.h"
#include "prune/structure/choose.h"

namespace mlopt::prune {
namespace {

/// What a chosen weight is multiplied by in this update. The pull grows with each of the first half, so that by its end
/// weights that no gradient keeps are a thousandth of what they were; then it is 0.
Value* decay(train::Constraint& at, const PenaltyPlan& plan) {
  train::Builder& b = at.build;
  const double ramp = std::max(1.0, std::floor(plan.ramp()));
  const double growth = 2 * std::log(1000) / (ramp * (ramp + 1));
  Value* pull = b.op("Add", {b.op("Mul", {at.step, b.number(growth)}), b.number(1)});
  return b.op("Where", {b.op("Less", {at.step, b.number(ramp)}), b.op("Reciprocal", {pull}), b.number(0)});
}

/// `decay` where `chosen`, a constant, else 1.
Value* factors(train::Builder& b, const Tensor& chosen, Value* decay) {
  return b.op("Where", {b.graph().add_constant("prune/chosen", chosen), decay, b.number(1)});
}

Tensor flags(const Dims& dims, const std::vector<uint8_t>& chosen) {
  return cast(Tensor::of<uint8_t>(dims, chosen), DType::kBool);
}

/// The least of the channels as the removal will choose them.
void shrink_channels(train::Constraint& at, const std::vector<TrainedGroup>& groups, const Spec& spec, double sparsity,
                     Value* decay) {
  std::vector<std::vector<double>> sizes;
  for (const TrainedGroup& group : groups) sizes.push_back(first_sizes(group));
  const Rounding rounding = rounding_of(spec);
  const Removed chosen = spec.allocation == "global" ? choose_global(sizes, sparsity, rounding)
                                                     : choose_uniform(sizes, sparsity, rounding);
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<uint8_t> goes(static_cast<size_t>(groups[g].channels));
    for (const size_t c : chosen[g]) goes[c] = 1;
    Value* by = factors(at.build, flags({groups[g].channels}, goes), decay);
    for (const Member& m : groups[g].members) at.replace(m.name, scaled(at.build, m, at.next(m.name), by));
  }
}

/// The least of a pool, in units of the norms of their rows.
void shrink_elements(train::Constraint& at, std::span<const Weight> pool, double sparsity, Value* decay) {
  std::vector<std::vector<float>> sizes;
  std::vector<float> all;
  for (const Weight& weight : pool) {
    std::vector<float>& own = sizes.emplace_back(to_floats(*weight.value->constant));
    const std::vector<float> scales = to_floats(row_scales(weight));
    for (size_t i = 0; i < own.size(); ++i) own[i] = std::abs(own[i]) / scales[i];
    all.insert(all.end(), own.begin(), own.end());
  }
  const auto going = static_cast<size_t>(std::llround(sparsity * static_cast<double>(all.size())));
  if (going == 0) return;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(going) - 1, all.end());
  const float largest = all[going - 1];
  for (size_t w = 0; w < pool.size(); ++w) {
    std::vector<uint8_t> goes(sizes[w].size());
    std::transform(sizes[w].begin(), sizes[w].end(), goes.begin(), [&](float size) { return size <= largest; });
    Value* by = factors(at.build, flags(pool[w].value->constant->dims(), goes), decay);
    at.replace(pool[w].name(), at.build.op("Mul", {at.next(pool[w].name()), by}));
  }
}

}  // namespace

void add_greg(train::Constraint& at, const Model& model, const Spec& spec, const PenaltyPlan& plan) {
  const auto trains = [&](const std::string& name) { return at.trains(name); };
  Value* pull = decay(at, plan);
  if (spec.granularity.kind() == Kind::kStructure)
    return shrink_channels(at, trained_groups(model, spec, trains), spec, plan.sparsity, pull);
  const std::vector<Weight> weights = trained_weights(model, spec, trains);
  for (const auto pool : pools_of(weights, compete(spec))) shrink_elements(at, pool, plan.sparsity, pull);
}

}  // namespace mlopt::prune
