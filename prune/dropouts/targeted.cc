#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "prune/dropouts.h"
#include "prune/dropouts/noise.h"
#include "prune/penalties/channels.h"
#include "prune/penalties/elements.h"

namespace mlopt::prune {
namespace {

/// A float32 weight, or the channels of a group.
struct Target {
  std::string kept;  ///< name of the state that says what of it the next update reads: 1 or 0
  Dims dims;         ///< of this state
  TrainedGroup group = {};
  std::string weight = {};  ///< where it is one
  Tensor scales = {};       ///< and what its sizes are in units of
  int64_t count() const { return element_count(dims); }
};

struct Targets {
  std::vector<Target> all;
  bool together = false;
};

Targets targets_of(const DropoutSetting& s) {
  Targets targets;
  const auto name = [&] { return fmt::format("prune/kept/{}", targets.all.size()); };
  if (s.spec.granularity.kind() == Kind::kStructure) {
    targets.together = s.spec.allocation == "global";
    for (TrainedGroup& group : trained_groups(s.model, s.spec, s.trains)) {
      const Dims dims = {group.channels};
      targets.all.push_back({name(), dims, std::move(group)});
    }
    return targets;
  }
  targets.together = compete(s.spec);
  for (const Weight& w : trained_weights(s.model, s.spec, s.trains))
    targets.all.push_back({name(), w.value->constant->dims(), {}, w.name(), row_scales(w)});
  return targets;
}

void add_noise(const Target& t, train::Builder& b) {
  Graph& graph = b.graph();
  Value* kept = left_over(b, t.kept, t.dims);
  if (!t.weight.empty()) return read_through(graph.find(t.weight), [&](Value* w) { return b.op("Mul", {w, kept}); });
  for (const Member& m : t.group.members)
    read_through(graph.find(m.name), [&](Value* w) { return scaled(b, m, w, kept); });
}

Tensor ones(const Dims& dims) {
  Tensor all(DType::kF32, dims);
  std::fill_n(all.mutable_data<float>(), all.size(), 1.0F);
  return all;
}

/// Does the loss depend on all of it?
bool learns(const Target& t, const train::Constraint& at) {
  if (!t.weight.empty()) return at.trains(t.weight);
  return std::all_of(t.group.members.begin(), t.group.members.end(),
                     [&](const Member& m) { return at.trains(m.name); });
}

/// What competes in the graph of updates.
class Pool {
 public:
  Pool(train::Constraint& at, std::span<const Target> targets, const PenaltyPlan& plan)
      : at_(at), b_(at.build), targets_(targets) {
    int64_t total = 0;
    for (const Target& t : targets) {
      sizes_.push_back(size_of(t, [&](const std::string& name) { return at.next(name); }));
      total += t.count();
    }
    cut_ = Ramp(at, total, plan).first_to_stay(sampled(b_, sizes_, total));
  }

  void draw(const Removal& removal, Chance& chance) {
    for (size_t i = 0; i < targets_.size(); ++i) draw(targets_[i], sizes_[i], removal, chance);
  }

 private:
  Value* size_of(const Target& t, const std::function<Value*(const std::string&)>& value) {
    if (t.weight.empty()) return sizes(b_, t.group, value);
    return b_.op("Div", {b_.op("Abs", {value(t.weight)}), b_.graph().add_constant("prune/scale", t.scales)});
  }

  void draw(const Target& t, Value* size, const Removal& removal, Chance& chance) {
    Value* least = b_.op("Less", {size, cut_});
    Value* before = size_of(t, [&](const std::string& name) { return at_.before(name); });
    Value* factors = removal.factor(b_, b_.op("Not", {least}), b_.op("Greater", {before, b_.number(0)}));
    if (t.weight.empty())
      for (const Member& m : t.group.members) at_.replace(m.name, scaled(b_, m, at_.next(m.name), factors));
    else
      at_.replace(t.weight, b_.op("Mul", {at_.next(t.weight), factors}));
    Value* dropped = b_.op("And", {least, b_.op("Less", {chance.uniform(t.dims), removal.progress})});
    Value* kept = b_.op("Where", {dropped, b_.number(0), b_.number(1)});
    at_.keep_next(at_.keep(t.kept, ones(t.dims)), b_.op("Where", {removal.over, b_.number(1), kept}));
  }

  train::Constraint& at_;
  train::Builder& b_;
  std::span<const Target> targets_;
  std::vector<Value*> sizes_;
  Value* cut_ = nullptr;
};

}  // namespace

DropoutParts targeted_dropout(const DropoutSetting& setting) {
  const auto targets = std::make_shared<const Targets>(targets_of(setting));
  DropoutParts parts;
  parts.noise = [targets](train::LossArgs& args, train::LossGraph&) {
    for (const Target& t : targets->all) add_noise(t, args.build);
  };
  parts.draw = [targets, plan = setting.plan, seed = setting.spec.seed](train::Constraint& at) {
    const Removal removal(at, plan.end());
    Chance chance(at.build, at.step, seed);
    std::vector<Target> learning;
    for (const Target& t : targets->all) learns(t, at) ? learning.push_back(t) : void(at.keep(t.kept, ones(t.dims)));
    for (const auto pool : pools_of(learning, targets->together)) Pool(at, pool, plan).draw(removal, chance);
  };
  return parts;
}

}  // namespace mlopt::prune
