#include "prune/structure/target.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "prune/structure/amc_target.h"
#include "prune/structure/remove.h"
#include "prune/structure/tidy.h"

namespace mlopt::prune {
namespace {

constexpr int kFlopsSteps = 12, kLatencySteps = 7;
constexpr double kCloseEnough = 0.005;  // of the MACs of the source
constexpr double kAsFast = 1.02;        // no more than what two measurements of the same differ by

/// Multiples that vector units and blocked layouts may like; 1: as it comes.
constexpr int64_t kMultiples[] = {1, 4, 8, 16, 32};

Rounding to_multiples(int64_t multiple) { return {.multiple = multiple, .small_groups = true}; }

bool removes_nothing(const Removed& removed) {
  return std::all_of(removed.begin(), removed.end(), [](const auto& group) { return group.empty(); });
}

size_t count(const Removed& removed) {
  size_t channels = 0;
  for (const auto& group : removed) channels += group.size();
  return channels;
}

size_t channels_of(const std::vector<Group>& groups) {
  size_t channels = 0;
  for (const Group& group : groups) channels += group.channels.size();
  return channels;
}

}  // namespace

Target::Target(const Removable& of, const Spec& spec, const Means& means)
    : of_(of), spec_(spec), means_(means), macs_(macs_of(of.model)) {}

int64_t Target::macs_of(const Model& model) const { return prune::macs_of(model, means_.passes.standard_types); }

Decision Target::decide() {
  check_names(spec_.shares, of_.names);
  if (spec_.allocation == kByLatency) require_times();
  Decision decision;
  decision.spec = spec_;
  if (spec_.round == kAutoRound) decision.spec.round = best_multiple();
  const Rounding rounded = decision.spec.round == spec_.round ? rounding() : to_multiples(*decision.spec.round);
  if (spec_.allocation == kAmc) {
    decision.spec.shares = by_amc(rounded, decision.episodes);
    decision.removed = remove_shares(decision.spec.shares, rounded);
  } else {
    decision.share = share_for(rounded);
    decision.removed = remove_share(decision.share, rounded);
    if (prune::by_curves(spec_)) decision.spec.shares = by_curves(decision.share);
  }
  if (looks_at_results(spec_)) {
    decision.spec.allocation.clear();
    decision.spec.episodes = 0;
    decision.spec.sparsity = decision.spec.flops = decision.spec.latency = std::nullopt;
  } else if (spec_.latency) {
    decision.spec.latency = std::nullopt;
    decision.spec.sparsity = decision.share;
  }
  decision.tried = std::move(tried_);
  return decision;
}

Rounding Target::rounding() const { return rounding_of(spec_); }

Removed Target::remove_share(double share, const Rounding& rounding) const {
  if (spec_.threshold) return choose_below(of_.scores, *spec_.threshold);
  if (!spec_.shares.empty()) return remove_shares(spec_.shares, rounding);
  if (prune::by_curves(spec_)) return remove_shares(by_curves(share), rounding);
  return spec_.allocation == "global" ? choose_global(of_.scores, share, rounding)
                                      : choose_uniform(of_.scores, share, rounding);
}

Removed Target::remove_shares(const Shares& shares, const Rounding& rounding) const {
  Removed removed;
  for (size_t g = 0; g < of_.groups.size(); ++g)
    removed.push_back(choose_uniform({of_.scores[g]}, share_of(shares, of_.names[g]).value_or(0), rounding)[0]);
  return removed;
}

Shares Target::by_curves(double share) const {
  const Saving saving = spec_.latency || spec_.allocation == kByLatency ? Saving::kTime
                        : spec_.flops                                   ? Saving::kMacs
                                                                        : Saving::kSize;
  return shares_of_least_loss(*means_.curves, saving, share);
}

Shares Target::by_amc(const Rounding& rounding, std::vector<Episode>& episodes) {
  if (spec_.flops) require_macs();
  const AmcTarget target{
      of_,
      spec_,
      means_,
      [&](const Shares& shares) { return remove_shares(shares, rounding); },
      [&](const Removed& gone) { return static_cast<double>(macs_without(gone)) / static_cast<double>(macs_); },
      [&](const Removed& gone) {
        return time_without(gone, static_cast<double>(count(gone)) / static_cast<double>(channels_of(of_.groups)),
                            rounding.multiple);
      }};
  return search_by_amc(target, episodes);
}

int64_t Target::macs_without(const Removed& removed) const {
  return macs_of(shapes_without_channels(of_.model, of_.all, of_.groups, removed, means_.passes.standard_types));
}

double Target::share_for(const Rounding& rounding) {
  if (spec_.flops) return share_for_flops(rounding);
  if (spec_.latency) return share_for_latency(rounding);
  if (spec_.allocation == kByLatency) return share_for_size();
  return spec_.sparsity.value_or(0);
}

/// The share of the time that could be saved with which a share of the channels goes.
double Target::share_for_size() const {
  double all = 0, low = 0, high = 1;
  for (const Curve& curve : *means_.curves) all += curve.size;
  const auto gone = [&](double share) {
    double sum = 0;
    const Shares shares = by_curves(share);
    for (const Curve& curve : *means_.curves) sum += curve.size * share_of(shares, curve.name).value_or(0);
    return sum;
  };
  for (int step = 0; step < kFlopsSteps; ++step) {
    const double middle = (low + high) / 2;
    (gone(middle) >= *spec_.sparsity * all ? high : low) = middle;
  }
  return high;
}

/// Where nothing was timed, or nothing saved time, nothing can be chosen by it.
void Target::require_times() const {
  for (const Curve& curve : *means_.curves)
    for (const CurvePoint& point : curve.points)
      if (point.time > 0) return;
  input_error("no layer that was pruned alone saved any time", of_.model.path,
              "leave --curves out to measure anew, or use --allocation sensitivity");
}

void Target::require_macs() const {
  if (macs_ == 0)
    input_error("the FLOPs of the model are not known: none of its layers has a shape that is", of_.model.path,
                "say how much to remove with --sparsity");
}

/// The smallest share that is enough, by bisection: fewer channels never cost more.
double Target::share_for_flops(const Rounding& rounding) const {
  require_macs();
  const auto before = static_cast<double>(macs_), target = *spec_.flops * before;
  double low = 0, high = 1;
  const auto least = static_cast<double>(macs_without(remove_share(high, rounding)));
  if (least > target)
    input_error(fmt::format("{:.4g} % of the FLOPs cannot be reached: with one channel left everywhere {:.4g} % stay",
                            *spec_.flops * 100, least / before * 100),
                of_.model.path, "--explain says which layers stay as they are, and why");
  for (int step = 0; step < kFlopsSteps; ++step) {
    const double middle = (low + high) / 2;
    const auto macs = static_cast<double>(macs_without(remove_share(middle, rounding)));
    (macs <= target ? high : low) = middle;
    if (macs <= target && target - macs < kCloseEnough * before) break;
  }
  return high;
}

double Target::time_without(const Removed& removed, double share, int64_t multiple) {
  if (!means_.time) unsupported_error("nothing is there that times models", "--latency");
  const Model model = shapes_without_channels(of_.model, of_.all, of_.groups, removed, means_.passes.standard_types);
  const double time = means_.time(model);
  const int64_t macs = macs_of(model);
  tried_.push_back({share, multiple, macs_ ? static_cast<double>(macs) / static_cast<double>(macs_) : 1, time});
  return time;
}

/// The same by what is measured: near enough to falling with the share.
double Target::share_for_latency(const Rounding& rounding) {
  double low = 0, high = 1;
  const double least = time_without(remove_share(high, rounding), high, rounding.multiple);
  if (least > *spec_.latency)
    input_error(fmt::format("{:.4g}x of the time cannot be reached: with one channel left everywhere a run takes "
                            "{:.3g}x as long as the source's",
                            *spec_.latency, least),
                of_.model.path, "--explain says which layers stay as they are, and why");
  for (int step = 0; step < kLatencySteps; ++step) {
    const double middle = (low + high) / 2;
    const double time = time_without(remove_share(middle, rounding), middle, rounding.multiple);
    (time <= *spec_.latency ? high : low) = middle;
  }
  return high;
}

/// Of the multiples that make the model about as fast as the best one does, that which leaves most channels.
int64_t Target::best_multiple() {
  struct Row {
    int64_t multiple;
    size_t gone;
    double time;
  };
  std::vector<Row> rows;
  std::vector<Removed> seen;
  const double share = spec_.latency ? share_for(rounding()) : 0;
  for (const int64_t multiple : kMultiples) {
    const Rounding rounded = to_multiples(multiple);
    const double one = spec_.latency ? share : share_for(rounded);
    const Removed removed = remove_share(one, rounded);
    if (removes_nothing(removed) || std::find(seen.begin(), seen.end(), removed) != seen.end()) continue;
    rows.push_back({multiple, count(removed), time_without(removed, one, multiple)});
    seen.push_back(removed);
  }
  if (rows.empty()) return 1;
  const auto less_time = [](const Row& a, const Row& b) { return a.time < b.time; };
  const double limit = kAsFast * std::min_element(rows.begin(), rows.end(), less_time)->time;
  std::erase_if(rows, [&](const Row& row) { return row.time > limit; });
  return std::min_element(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.gone < b.gone; })
      ->multiple;
}

}  // namespace mlopt::prune
