#include "cli/prune/sensitivity.h"

#include <cmath>

#include "cli/comparison.h"
#include "core/base/error.h"
#include "core/data/metrics.h"

namespace mlopt::cli {
namespace {

constexpr double kShares[] = {0.25, 0.5, 0.75, 0.9};
constexpr double kWhole[] = {1};      // of what goes or stays as a whole
constexpr double kTieBreaker = 1e-3;  // of what the outputs lose, beside what the score does

}  // namespace

Sensitivity::Sensitivity(const VerbOptions& verb, prune::Spec spec, const Model& source, const TryPruning& prune,
                         Session& session)
    : verb_(verb),
      spec_(std::move(spec)),
      source_(source),
      prune_(prune),
      session_(session),
      shrinks_(spec_.granularity.kind() == prune::Kind::kStructure),
      trials_(verb_, source, session) {
  if (!shrinks_) verb_.no_bench = true;  // zeros are not skipped by anything that multiplies
  spec_.threshold = spec_.flops = spec_.latency = spec_.sparsity = std::nullopt;
  spec_.allocation.clear();
  spec_.shares.clear();
  if (spec_.round == prune::kAutoRound) spec_.round = std::nullopt;
}

std::span<const double> Sensitivity::shares() const {
  if (spec_.granularity.pattern()) return {&pattern_share_, 1};
  if (spec_.granularity.name == prune::kLayers) return kWhole;
  return kShares;
}

void Sensitivity::measure() {
  find_parts();
  Progress progress = session_.console.progress("sensitivity", std::ssize(parts_) * std::ssize(shares()));
  for (const Part& part : parts_)
    for (const double share : shares()) {
      points_.push_back(point(part, share));
      progress.set(std::ssize(points_));
    }
}

/// As the whole model's pruning finds them.
void Sensitivity::find_parts() {
  prune::Spec whole = spec_;
  whole.fit = whole.statistics = false;
  if (!whole.granularity.pattern()) {
    const bool blocks = spec_.granularity.name == prune::kLayers;
    whole.sparsity = blocks ? 1 : kShares[1];
    if (!blocks) whole.allocation = "uniform";
  }
  const prune::Pruned made = prune_(whole);
  for (const prune::PrunedGroup& group : made.groups)
    if (group.kept < group.channels) parts_.push_back({group.name, group.layers, group.channels});
  for (const prune::PrunedLayer& layer : made.layers) parts_.push_back({layer.name, {layer.layer}, layer.parameters});
  if (parts_.empty()) unsupported_error("nothing of the model can be pruned so", verb_.model, "see --explain");
  const auto& g = spec_.granularity;
  if (g.pattern()) pattern_share_ = 1 - static_cast<double>(g.keep) / static_cast<double>(g.of);
}

Sensitivity::Point Sensitivity::point(const Part& part, double share) {
  prune::Spec spec = spec_;
  if (spec.granularity.pattern())
    spec.only = part.layers;
  else
    spec.shares = {{part.name, share}};
  const prune::Pruned made = prune_(spec);
  Point p{share, trials_.look_at(made.model), made.macs_before - made.macs_after, 0, 0, NAN, NAN};
  p.bytes = source_.file_bytes - p.trial.bytes;
  if (made.macs_before > 0) p.macs_share = static_cast<double>(p.macs) / static_cast<double>(made.macs_before);
  const SideBySide& time = p.trial.latency;
  if (!time.left_out.empty()) return p;
  p.time = 1 - 1 / time.ratio.median;
  p.ms = time.source.p50 * p.time;
  return p;
}

std::vector<prune::Curve> Sensitivity::curves() const {
  std::vector<prune::Curve> curves;
  for (size_t i = 0; i < parts_.size(); ++i) {
    prune::Curve& curve = curves.emplace_back();
    curve.name = parts_[i].name;
    curve.size = static_cast<double>(parts_[i].size);
    for (size_t k = 0; k < shares().size(); ++k) {
      const Point& p = at(i, k);
      curve.points.push_back({p.share, loss_of(p.trial, trials_.source_score(), verb_.metric), p.macs_share,
                              std::isfinite(p.time) ? p.time : 0});
    }
  }
  return curves;
}

double loss_of(const Trial& trial, const std::optional<Score>& source, const std::string& metric) {
  double noise = 0;
  if (trial.difference) noise = std::pow(10, -shown_sqnr(*trial.difference) / 10);
  if (!trial.score) return noise;
  const double drop = source->value - trial.score->value;
  return std::max(0.0, find_metric(metric).higher_is_better ? drop : -drop) + kTieBreaker * noise / (1 + noise);
}

}  // namespace mlopt::cli
