#include "prune/structure/choose.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mlopt::prune {
namespace {

/// Channels from the lowest score to the highest; the later one of equals first.
std::vector<size_t> ranked(const std::vector<double>& scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] < scores[b]; });
  return order;
}

/// The lowest but `keep` of them.
std::vector<size_t> lowest(const std::vector<double>& scores, size_t keep) {
  std::vector<size_t> removed = ranked(scores);
  removed.resize(scores.size() - std::min(keep, scores.size()));
  std::sort(removed.begin(), removed.end());
  return removed;
}

size_t rounded(int64_t keep, size_t channels, const Rounding& rounding) {
  const auto all = static_cast<int64_t>(channels);
  keep = std::clamp<int64_t>(keep, 1, all);
  if (rounding.multiple > 1 && (rounding.small_groups || all >= 4 * rounding.multiple))
    keep = std::min(all, (keep + rounding.multiple - 1) / rounding.multiple * rounding.multiple);
  return static_cast<size_t>(keep);
}

}  // namespace

Rounding rounding_of(const Spec& spec) {
  if (spec.round && spec.round != kAutoRound) return {.multiple = *spec.round, .small_groups = true};
  Rounding usual;
  if (spec.granularity.name == "head") usual.multiple = 1;
  return usual;
}

Removed choose_uniform(const std::vector<std::vector<double>>& scores, double ratio, const Rounding& rounding) {
  Removed removed;
  for (const std::vector<double>& group : scores) {
    const int64_t keep = std::llround(static_cast<double>(group.size()) * (1 - ratio));
    removed.push_back(lowest(group, rounded(keep, group.size(), rounding)));
  }
  return removed;
}

Removed choose_global(const std::vector<std::vector<double>>& scores, double ratio, const Rounding& rounding) {
  std::vector<double> all;
  for (const std::vector<double>& group : scores) all.insert(all.end(), group.begin(), group.end());
  std::sort(all.begin(), all.end());
  const auto going = static_cast<size_t>(static_cast<double>(all.size()) * ratio + 1e-9);
  Removed removed;
  for (const std::vector<double>& group : scores) {
    const double first_kept = going < all.size() ? all[going] : INFINITY;
    const auto above = std::count_if(group.begin(), group.end(), [&](double s) { return s >= first_kept; });
    const int64_t least = std::llround(0.1 * static_cast<double>(group.size()));
    removed.push_back(lowest(group, rounded(std::max<int64_t>(above, least), group.size(), rounding)));
  }
  return removed;
}

Removed choose_below(const std::vector<std::vector<double>>& scores, double threshold) {
  Removed removed;
  for (const std::vector<double>& group : scores) {
    const auto above = std::count_if(group.begin(), group.end(), [&](double s) { return !is_below(s, threshold); });
    removed.push_back(lowest(group, static_cast<size_t>(std::max<int64_t>(above, 1))));
  }
  return removed;
}

}  // namespace mlopt::prune
