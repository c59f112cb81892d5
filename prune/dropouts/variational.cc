#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/tensor/cast.h"
#include "prune/dropouts.h"
#include "prune/dropouts/noise.h"
#include "prune/dropouts/noisy_layer.h"
#include "prune/penalties/elements.h"

namespace mlopt::prune {
namespace {

constexpr double kFirst = -6, kNoise = 3;  // of log alpha: at first, of what can go
constexpr double kTiny = 1e-8;             // beside the squares of weights
constexpr double kRemoval = 1.1;           // ramps until it: without noise the rest has much to learn anew

struct NoisyWeight {
  std::string weight, variance;
  std::string leaving;  ///< a state: 1 where the weight is to go, 0 elsewhere
  Tensor first;         ///< log variance at first
};

struct NoisyWeights {
  std::vector<NoisyWeight> all;
  bool together = true;
  double unit = 1;  ///< of what is learned of a log variance
  uint64_t seed = 0;
  PenaltyPlan plan;
};

NoisyWeights weights_of(const DropoutSetting& s) {
  NoisyWeights weights;
  weights.together = s.spec.allocation == "global";  // layers of few inputs would be noise altogether
  weights.seed = s.spec.seed;
  weights.plan = s.plan;
  // Steps of Adam are as long as the rate: those of the first half, at four fifths of the highest, can take log alpha
  // from its first to what can go.
  weights.unit = (kNoise - kFirst) / (0.8 * s.rate * std::max(1.0, s.plan.ramp()));
  for (const Weight& w : trained_weights(s.model, s.spec, s.trains)) {
    Tensor first(DType::kF32, w.value->constant->dims());
    const std::vector<float> numbers = to_floats(*w.value->constant);
    std::transform(numbers.begin(), numbers.end(), first.mutable_data<float>(),
                   [](double x) { return static_cast<float>(kFirst + std::log(x * x + kTiny)); });
    const size_t i = weights.all.size();
    weights.all.push_back(
        {w.name(), fmt::format("prune/variance/{}", i), fmt::format("prune/leaving/{}", i), std::move(first)});
  }
  return weights;
}

/// `learned` is a list, so that no decay of weights gets at it.
Value* log_variance(train::Builder& b, const NoisyWeight& w, Value* learned, double unit) {
  Value* change = b.op("Mul", {b.op("Reshape", {learned, b.indices(w.first.dims())}), b.number(unit)});
  return b.op("Add", {change, b.graph().add_constant("prune/first", w.first)});
}

Value* log_alpha(train::Builder& b, Value* log_variance, Value* w) {
  Value* square = b.op("Add", {b.op("Mul", {w, w}), b.number(kTiny)});
  return b.op("Sub", {log_variance, b.op("Log", {square})});
}

/// KL(q | log-uniform) by its approximation (Molchanov et al. 2017, equation 14), of those that are leaving, summed.
Value* divergence(train::Builder& b, Value* log_alpha, Value* leaving) {
  constexpr double k1 = 0.63576, k2 = 1.87320, k3 = 1.48695;
  Value* gate = b.op("Sigmoid", {b.op("Add", {b.op("Mul", {log_alpha, b.number(k3)}), b.number(k2)})});
  Value* inverse = b.op("Softplus", {b.op("Neg", {log_alpha})});  // log(1 + 1 / alpha)
  Value* each = b.op("Sub", {b.op("Mul", {inverse, b.number(0.5)}), b.op("Mul", {gate, b.number(k1)})});
  Value* counted = b.op("Mul", {b.op("Add", {each, b.number(k1)}), leaving});
  return b.op("ReduceSum", {counted}, {{"keepdims", int64_t{0}, {}}});
}

void add_noise(const NoisyWeights& weights, train::LossArgs& args, train::LossGraph& loss) {
  train::Builder& b = args.build;
  Value* loud = left_over(b, kLoud, {});
  Chance chance(b, left_over(b, kUpdate, {}), weights.seed);
  std::vector<Value*> terms;
  for (const NoisyWeight& w : weights.all) {
    Value* learned = b.graph().add_constant(w.variance, Tensor::zeros(DType::kF32, {w.first.size()}));
    loss.learned.push_back(learned);
    Value* mean = b.graph().find(w.weight);
    const std::vector<Use> readers = mean->uses;
    Value* variance = log_variance(b, w, learned, weights.unit);
    terms.push_back(divergence(b, log_alpha(b, variance, mean), left_over(b, w.leaving, w.first.dims())));
    for (const Use& reader : readers) add_noise_of(b, reader, b.op("Exp", {variance}), loud, chance);
  }
  loss.loss = b.op("Add", {loss.loss, b.op("Mul", {b.op("Sum", terms), left_over(b, kPull, {})})});
}

/// The weights that compete, in the graph of updates.
class Pool {
 public:
  Pool(train::Constraint& at, std::span<const NoisyWeight> weights, double unit)
      : at_(at), b_(at.build), weights_(weights) {
    for (const NoisyWeight& w : weights) {
      Value* alpha = log_alpha(b_, log_variance(b_, w, at.next(w.variance), unit), at.next(w.weight));
      needs_.push_back(b_.op("Neg", {alpha}));
      total_ += w.first.size();
    }
  }

  int64_t total() const { return total_; }

  /// How many are noise by now: float32 scalar.
  Value* count() const {
    std::vector<Value*> counts;
    for (Value* need : needs_) {
      Value* noise = b_.op("Cast", {b_.op("Less", {need, b_.number(-kNoise)})}, {{"to", int64_t{1}, {}}});
      counts.push_back(b_.op("ReduceSum", {noise}, {{"keepdims", int64_t{0}, {}}}));
    }
    return b_.op("Sum", counts);
  }

  void remove(const Removal& removal, const PenaltyPlan& plan) {
    Value* cut = Ramp(at_, total_, plan).first_to_stay(sampled(b_, needs_, total_));
    for (size_t i = 0; i < weights_.size(); ++i) {
      const NoisyWeight& w = weights_[i];
      Value* staying = b_.op("Not", {b_.op("Less", {needs_[i], cut})});
      Value* alive = b_.op("Not", {b_.op("Equal", {at_.before(w.weight), b_.number(0)})});
      at_.replace(w.weight, b_.op("Mul", {at_.next(w.weight), removal.factor(b_, staying, alive)}));
      at_.keep_next(at_.keep(w.leaving, Tensor::zeros(DType::kF32, w.first.dims())),
                    b_.op("Where", {staying, b_.number(0), b_.number(1)}));
    }
  }

 private:
  train::Constraint& at_;
  train::Builder& b_;
  std::span<const NoisyWeight> weights_;
  std::vector<Value*> needs_;  // -log alpha
  int64_t total_ = 0;
};

void draw(const NoisyWeights& weights, train::Constraint& at) {
  const Removal removal(at, kRemoval * weights.plan.ramp());
  const Pool all(at, weights.all, weights.unit);
  keep_noise(at, removal, all.total(), all.count(), weights.plan);
  for (const auto pool : pools_of(weights.all, weights.together))
    Pool(at, pool, weights.unit).remove(removal, weights.plan);
}

}  // namespace

DropoutParts variational_dropout(const DropoutSetting& setting) {
  const auto weights = std::make_shared<const NoisyWeights>(weights_of(setting));
  DropoutParts parts;
  parts.noise = [weights](train::LossArgs& args, train::LossGraph& loss) { add_noise(*weights, args, loss); };
  parts.draw = [weights](train::Constraint& at) { draw(*weights, at); };
  return parts;
}

}  // namespace mlopt::prune
