#include "quantize/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>

#include "core/ir/view.h"
#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The normal density and distribution; 0 and the limits at infinity.
double density(double x) { return std::isinf(x) ? 0 : std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double below(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
/// x times something that falls faster than x grows.
double times(double x, double factor) { return factor == 0 ? 0 : x * factor; }

class Follower {
 public:
  Follower(const Model& model, MomentsByName known) : model_(model), known_(std::move(known)) {}

  MomentsByName run() {
    for (const Node* node : model_.graph->nodes()) {
      if (!node->output(0) || known_.contains(node->output(0)->name) || !node->domain.empty()) continue;
      if (std::optional<Moments> found = follow(*node)) known_.emplace(node->output(0)->name, std::move(*found));
    }
    return std::move(known_);
  }

 private:
  const Moments* known(const Value* v) const {
    const auto at = v ? known_.find(v->name) : known_.end();
    return at == known_.end() ? nullptr : &at->second;
  }

  std::optional<Moments> follow(const Node& node) const {
    const NodeView view(node, model_.opset());
    if (node.is("BatchNormalization")) return normalized(view);
    if (node.is("Add")) return sum(node);
    if (node.is("Concat")) return view.get_int("axis", 0) == 1 ? joined(node) : std::nullopt;
    const Moments* x = known(node.input(0));
    if (!x) return std::nullopt;
    if (node.is("Relu")) return clipped(*x, 0, kInfinity);
    if (node.is("Clip")) {
      const auto low = view.number("min", 1, -kInfinity), high = view.number("max", 2, kInfinity);
      return low && high ? std::optional(clipped(*x, *low, *high)) : std::nullopt;
    }
    // A mean over places has the mean of these; how much it varies is not known, nor asked for behind it.
    static constexpr std::string_view kKeep[] = {"Identity", "Dropout", "AveragePool", "GlobalAveragePool"};
    if (std::find(std::begin(kKeep), std::end(kKeep), node.op) != std::end(kKeep)) return *x;
    return node.is("Flatten") && view.get_int("axis", 1) == 1 ? std::optional(*x) : std::nullopt;
  }

  static std::optional<Moments> normalized(const NodeView& view) {
    const Tensor *scale = view.constant(1), *bias = view.constant(2);
    if (!scale || !bias || view.get_int("training_mode", 0) != 0) return std::nullopt;
    Moments made{to_doubles(*bias), to_doubles(*scale)};
    for (double& x : made.variances) x *= x;
    return made;
  }

  std::optional<Moments> sum(const Node& node) const {
    const Moments *a = known(node.input(0)), *b = known(node.input(1));
    if (!a || !b || a->means.size() != b->means.size()) return std::nullopt;
    Moments made = *a;
    for (size_t c = 0; c < made.means.size(); ++c) {
      made.means[c] += b->means[c];
      made.variances[c] += b->variances[c];
    }
    return made;
  }

  std::optional<Moments> joined(const Node& node) const {
    Moments made;
    for (const Value* v : node.inputs()) {
      const Moments* x = known(v);
      if (!x) return std::nullopt;
      made.means.insert(made.means.end(), x->means.begin(), x->means.end());
      made.variances.insert(made.variances.end(), x->variances.begin(), x->variances.end());
    }
    return made;
  }

  const Model& model_;
  MomentsByName known_;
};

}  // namespace

Moments clipped(const Moments& moments, double low, double high) {
  Moments cut = moments;
  for (size_t c = 0; c < cut.means.size(); ++c) {
    const double mean = moments.means[c], deviation = std::sqrt(moments.variances[c]);
    if (!(deviation > 0)) {
      cut.means[c] = std::clamp(mean, low, high);
      continue;
    }
    const double a = (low - mean) / deviation, b = (high - mean) / deviation;
    const double inside = below(b) - below(a), slope = density(a) - density(b), under = below(a), over = below(-b);
    const double first = times(low, under) + mean * inside + deviation * slope + times(high, over);
    const double bent = inside + times(a, density(a)) - times(b, density(b));
    const double second = times(low * low, under) + mean * mean * inside + 2 * mean * deviation * slope +
                          deviation * deviation * bent + times(high * high, over);
    cut.means[c] = first;
    cut.variances[c] = std::max(0.0, second - first * first);
  }
  return cut;
}

void divide(Moments& moments, const std::vector<double>& scale) {
  if (scale.size() != moments.means.size()) return;
  for (size_t c = 0; c < scale.size(); ++c) {
    moments.means[c] /= scale[c];
    moments.variances[c] /= scale[c] * scale[c];
  }
}

MomentsByName moments_of(const Model& model, MomentsByName known) { return Follower(model, std::move(known)).run(); }

}  // namespace mlopt::quantize
