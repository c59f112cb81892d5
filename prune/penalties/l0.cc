#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "prune/dropouts/noise.h"
#include "prune/penalties.h"
#include "prune/penalties/channels.h"
#include "prune/penalties/elements.h"

namespace mlopt::prune {
namespace {

// Louizos et al. 2018: the hard concrete distribution is a stretched, clipped and smoothed coin.
constexpr double kBeta = 2.0 / 3, kLow = -0.1, kHigh = 1.1;
constexpr double kFirst = 2.2;     // log alpha at first: a gate is closed with a chance of a tenth and less
constexpr double kClosed = -2.4;   // with less a gate is closed when nothing is drawn
constexpr double kRemoval = 1.25;  // ramps until what is closed is removed

/// Gates of the numbers of a weight, or of the channels of a group.
struct Gates {
  std::string state;    ///< what is learned
  std::string leaving;  ///< a state: 1 where the gate is among the least, which have a price, 0 elsewhere
  Dims dims;
  TrainedGroup group = {};
  std::string weight = {};  ///< where it is one
  int64_t count() const { return element_count(dims); }
};

struct AllGates {
  std::vector<Gates> all;
  bool together = true;
  double unit = 1;  ///< of what is learned of log alpha
  uint64_t seed = 0;
  PenaltyPlan plan;
};

AllGates gates_of(const DropoutSetting& s) {
  AllGates gates;
  gates.seed = s.spec.seed;
  gates.plan = s.plan;
  // Steps of Adam are as long as the rate: those of the first half, at four fifths of the highest, can close a gate.
  gates.unit = (kFirst - kClosed) / (0.8 * s.rate * std::max(1.0, s.plan.ramp()));
  const auto name = [&](const char* what) { return fmt::format("prune/{}/{}", what, gates.all.size()); };
  if (s.spec.granularity.kind() == Kind::kStructure) {
    gates.together = s.spec.allocation == "global";
    for (TrainedGroup& group : trained_groups(s.model, s.spec, s.trains)) {
      const Dims dims = {group.channels};
      gates.all.push_back({name("gate"), name("leaving"), dims, std::move(group)});
    }
    return gates;
  }
  gates.together = compete(s.spec);
  for (const Weight& w : trained_weights(s.model, s.spec, s.trains))
    gates.all.push_back({name("gate"), name("leaving"), w.value->constant->dims(), {}, w.name()});
  return gates;
}

/// Channels are closed where they are read, behind what normalizes them.
bool is_gated(const TrainedGroup& group, const Member& m) {
  const auto reads = [](const Member& one) { return !one.makes && one.dims.size() > 1; };
  if (std::any_of(group.members.begin(), group.members.end(), reads)) return reads(m);
  return m.makes;
}

/// `learned` is a list, so that no decay of weights gets at it.
Value* log_alpha(train::Builder& b, const Gates& g, Value* learned, double unit) {
  Value* change = b.op("Mul", {b.op("Reshape", {learned, b.indices(g.dims)}), b.number(unit)});
  return b.op("Add", {change, b.number(kFirst)});
}

Value* stretched(train::Builder& b, Value* smooth) {
  Value* wide = b.op("Add", {b.op("Mul", {smooth, b.number(kHigh - kLow)}), b.number(kLow)});
  return b.op("Clip", {wide, b.number(0), b.number(1)});
}

/// A gate as it is drawn.
Value* drawn(train::Builder& b, Value* log_alpha, Chance& chance) {
  constexpr double kTiny = 1e-6;
  Value* u = b.op("Clip", {chance.uniform(train::Builder::dims(log_alpha)), b.number(kTiny), b.number(1 - kTiny)});
  Value* odds = b.op("Sub", {b.op("Log", {u}), b.op("Log", {b.op("Sub", {b.number(1), u})})});
  return stretched(b, b.op("Sigmoid", {b.op("Div", {b.op("Add", {odds, log_alpha}), b.number(kBeta)})}));
}

void add_gates(const AllGates& gates, train::LossArgs& args, train::LossGraph& loss) {
  train::Builder& b = args.build;
  Value* loud = b.op("Greater", {left_over(b, kLoud, {}), b.number(0)});
  Chance chance(b, left_over(b, kUpdate, {}), gates.seed);
  std::vector<Value*> open;
  for (const Gates& g : gates.all) {
    Value* learned = b.graph().add_constant(g.state, Tensor::zeros(DType::kF32, {g.count()}));
    loss.learned.push_back(learned);
    Value* alpha = log_alpha(b, g, learned, gates.unit);
    Value* gate = b.op("Where", {loud, drawn(b, alpha, chance), b.number(1)});
    if (!g.weight.empty()) read_through(b.graph().find(g.weight), [&](Value* w) { return b.op("Mul", {w, gate}); });
    for (const Member& m : g.group.members)
      if (is_gated(g.group, m)) read_through(b.graph().find(m.name), [&](Value* w) { return scaled(b, m, w, gate); });
    // The chance that it is not zero.
    Value* chances = b.op("Sigmoid", {b.op("Sub", {alpha, b.number(kBeta * std::log(-kLow / kHigh))})});
    chances = b.op("Mul", {chances, left_over(b, g.leaving, g.dims)});
    open.push_back(b.op("ReduceSum", {chances}, {{"keepdims", int64_t{0}, {}}}));
  }
  loss.loss = b.op("Add", {loss.loss, b.op("Mul", {b.op("Sum", open), left_over(b, kPull, {})})});
}

/// The gates that compete, in the graph of updates.
class Pool {
 public:
  Pool(train::Constraint& at, std::span<const Gates> gates, double unit) : at_(at), b_(at.build), gates_(gates) {
    for (const Gates& g : gates) {
      alphas_.push_back(log_alpha(b_, g, at.next(g.state), unit));
      total_ += g.count();
    }
  }

  int64_t total() const { return total_; }

  /// How many are closed by now: float32 scalar.
  Value* closed() const {
    std::vector<Value*> counts;
    for (Value* alpha : alphas_) {
      Value* shut = b_.op("Cast", {b_.op("Less", {alpha, b_.number(kClosed)})}, {{"to", int64_t{1}, {}}});
      counts.push_back(b_.op("ReduceSum", {shut}, {{"keepdims", int64_t{0}, {}}}));
    }
    return b_.op("Sum", counts);
  }

  /// At the moment weights become what they are behind their gates, and those of the least gates zero.
  void remove(const Removal& removal, const PenaltyPlan& plan) {
    Value* cut = Ramp(at_, total_, plan).first_to_stay(sampled(b_, alphas_, total_));
    for (size_t i = 0; i < gates_.size(); ++i) {
      const Gates& g = gates_[i];
      Value* staying = b_.op("Not", {b_.op("Less", {alphas_[i], cut})});
      at_.keep_next(at_.keep(g.leaving, Tensor::zeros(DType::kF32, g.dims)),
                    b_.op("Where", {staying, b_.number(0), b_.number(1)}));
      Value* usual = stretched(b_, b_.op("Sigmoid", {alphas_[i]}));
      Value* open = b_.op("Where", {removal.now, usual, b_.number(1)});
      if (!g.weight.empty()) {
        Value* alive = b_.op("Not", {b_.op("Equal", {at_.before(g.weight), b_.number(0)})});
        Value* kept = b_.op("Mul", {removal.factor(b_, staying, alive), open});
        at_.replace(g.weight, b_.op("Mul", {at_.next(g.weight), kept}));
        continue;
      }
      Value* before = sizes(b_, g.group, [&](const std::string& name) { return at_.before(name); });
      Value* whole = removal.factor(b_, staying, b_.op("Greater", {before, b_.number(0)}));
      for (const Member& m : g.group.members) {
        Value* kept = is_gated(g.group, m) ? b_.op("Mul", {whole, open}) : whole;
        at_.replace(m.name, scaled(b_, m, at_.next(m.name), kept));
      }
    }
  }

 private:
  train::Constraint& at_;
  train::Builder& b_;
  std::span<const Gates> gates_;
  std::vector<Value*> alphas_;
  int64_t total_ = 0;
};

/// Does the loss depend on all of it?
bool learns(const Gates& g, const train::Constraint& at) {
  if (!at.trains(g.state)) return false;
  if (!g.weight.empty()) return at.trains(g.weight);
  return std::all_of(g.group.members.begin(), g.group.members.end(),
                     [&](const Member& m) { return at.trains(m.name); });
}

void update_gates(const AllGates& gates, train::Constraint& at) {
  const Removal removal(at, kRemoval * gates.plan.ramp());
  std::vector<Gates> learning;
  for (const Gates& g : gates.all)
    learns(g, at) ? learning.push_back(g) : void(at.keep(g.leaving, Tensor::zeros(DType::kF32, g.dims)));
  const Pool all(at, learning, gates.unit);
  keep_noise(at, removal, all.total(), all.closed(), gates.plan);
  for (const auto pool : pools_of(learning, gates.together)) Pool(at, pool, gates.unit).remove(removal, gates.plan);
}

}  // namespace

DropoutParts l0_gates(const DropoutSetting& setting) {
  const auto gates = std::make_shared<const AllGates>(gates_of(setting));
  DropoutParts parts;
  parts.noise = [gates](train::LossArgs& args, train::LossGraph& loss) { add_gates(*gates, args, loss); };
  parts.draw = [gates](train::Constraint& at) { update_gates(*gates, at); };
  return parts;
}

}  // namespace mlopt::prune
