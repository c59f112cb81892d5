#include "prune/schedules/trained_masks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/calib/weights.h"
#include "core/tensor/cast.h"
#include "core/train/average.h"
#include "prune/penalties/channels.h"

namespace mlopt::prune {
namespace {

constexpr std::string_view kMask = "prune/mask/", kMoved = "prune/movement/";

std::string mask_of(const std::string& weight) { return std::string(kMask) + weight; }
std::string movement_of(const std::string& weight) { return std::string(kMoved) + weight; }

Tensor filled(DType type, const Dims& dims, float value) {
  Tensor all(DType::kF32, dims);
  std::fill_n(all.mutable_data<float>(), all.size(), value);
  return cast(all, type);
}

Tensor product(const Tensor& a, const Tensor& b) {
  std::vector<double> x = to_doubles(a);
  const std::vector<double> y = to_doubles(b);
  for (size_t i = 0; i < x.size(); ++i) x[i] = y[i] == 0 ? 0 : x[i];
  return cast(Tensor::of<double>(a.dims(), x), a.dtype());
}

/// The weights that have a part of channels, or heads, that can go.
std::vector<std::string> weights_of_channels(const Model& model, const Spec& spec) {
  std::vector<std::string> names;
  for (const TrainedGroup& group : trained_groups(model, spec, [](const std::string&) { return true; }))
    for (const Member& m : group.members)
      if (m.dims.size() > 1 && std::find(names.begin(), names.end(), m.name) == names.end()) names.push_back(m.name);
  return names;
}

/// 1 where there is something.
Tensor where_not_zero(const Tensor& weights, DType type) {
  std::vector<float> kept = to_floats(weights);
  for (float& x : kept) x = x == 0 ? 0.0F : 1.0F;
  return cast(Tensor::of<float>(weights.dims(), kept), type);
}

}  // namespace

TrainedMasks::TrainedMasks(const ScheduleSetting& setting)
    : model_(clone(setting.model)), spec_(setting.spec), prune_(setting.prune) {
  if (spec_.granularity.kind() == Kind::kStructure) {
    weights_ = weights_of_channels(model_, spec_);
    return;
  }
  for (const Weight& w : find_weights(setting.model, {setting.spec.only, setting.spec.skip}).weights)
    weights_.push_back(w.name());
}

bool TrainedMasks::is_mask(std::string_view state) { return state.starts_with(kMask); }

void TrainedMasks::constrain(train::Constraint& at) const {
  train::Builder& b = at.build;
  for (const std::string& name : weights_) {
    if (!at.trains(name))
      usage_error("a weight that is removed in the course of a training has to be trained", name,
                  "leave it out (--skip), or train it");
    Value *before = at.before(name), *next = at.next(name);
    const DType type = before->type.dtype;
    const Dims dims = train::Builder::dims(before);
    Value* mask = at.keep(mask_of(name), filled(type, dims, 1));
    at.replace(name, b.op("Mul", {next, mask}));
    at.keep_next(mask, b.op("Identity", {mask}));
    if (spec_.method != kMovement) continue;
    Value* moved = at.keep(movement_of(name), filled(type, dims, 0));
    at.keep_next(moved, b.op("Sub", {moved, b.op("Mul", {before, at.gradient(name)})}));
  }
}

void TrainedMasks::remove(double share, const train::TrainingGraphs& graphs) const {
  Spec spec = spec_;
  if (spec.granularity.pattern()) return remove_of_all(share * share_of_pattern(spec.granularity), graphs);
  if (spec.sparsity) *spec.sparsity *= share;
  for (auto& [name, of] : spec.shares) of *= share;
  remove(std::move(spec), graphs);
}

void TrainedMasks::remove_of_all(double sparsity, const train::TrainingGraphs& graphs) const {
  Spec spec = spec_;
  if (spec.granularity.pattern()) {
    Granularity& g = spec.granularity;
    g.keep = g.of - std::llround(sparsity * static_cast<double>(g.of));
    spec.sparsity = std::nullopt;
    if (g.keep == g.of) return;
  } else {
    spec.sparsity = sparsity;
  }
  remove(std::move(spec), graphs);
}

void TrainedMasks::remove(Spec spec, const train::TrainingGraphs& graphs) const {
  spec.schedule.clear();
  spec.every = spec.rewind = 0;
  spec.iterations = 1;
  Model now = clone(model_);
  train::store_weights(now, graphs);
  const bool moves = spec.method == kMovement;
  const Movements moved = moves ? movements(graphs) : Movements();
  const Model made = prune_(now, spec, moves ? &moved : nullptr);
  for (const std::string& name : weights_)
    if (const Value* pruned = made.graph->find(name))
      graphs.state->set(mask_of(name), where_not_zero(*pruned->constant, graphs.state->on_host(mask_of(name)).dtype()));
  apply(graphs);
}

void TrainedMasks::apply(const train::TrainingGraphs& graphs) const {
  for (const std::string& name : weights_)
    for (const std::string& state : {name, train::average_of(name)})
      if (graphs.state->has(state))
        graphs.state->set(state, product(graphs.state->at(state), graphs.state->at(mask_of(name))));
}

/// Above 0, in float32.
Movements TrainedMasks::movements(const train::TrainingGraphs& graphs) const {
  Movements all;
  float least = 0;
  for (const std::string& name : weights_) {
    Tensor& moved = all[name] = cast(graphs.state->at(movement_of(name)), DType::kF32);
    least = std::min(least, *std::min_element(moved.data<float>(), moved.data<float>() + moved.size()));
  }
  for (auto& [name, moved] : all) {
    float* at = moved.mutable_data<float>();
    for (int64_t i = 0; i < moved.size(); ++i) at[i] -= least;
  }
  return all;
}

}  // namespace mlopt::prune
