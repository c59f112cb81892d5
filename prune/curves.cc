#include "prune/curves.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::prune {
namespace {

struct Corner {
  double share, loss;
};

/// The lower convex hull of the curve from (0, 0) to 1, its losses never falling.
std::vector<Corner> hull_of(const Curve& curve) {
  std::vector<Corner> corners{{0, 0}};
  double loss = 0;
  const auto add = [&](Corner c) {
    const auto bulges = [&] {
      const Corner &a = corners[corners.size() - 2], &b = corners.back();
      return (b.loss - a.loss) * (c.share - a.share) >= (c.loss - a.loss) * (b.share - a.share);
    };
    while (corners.size() > 1 && bulges()) corners.pop_back();
    corners.push_back(c);
  };
  for (const CurvePoint& p : curve.points) add({p.share, loss = std::max(loss, p.loss)});
  if (corners.back().share < 1) add({1, 2 * loss});
  return corners;
}

/// From one corner of a hull to the next.
struct Step {
  size_t curve;
  double share, saved, price;  ///< saved: of all; price: what is lost for it
};

std::vector<Step> steps_of(std::span<const Curve> curves, Saving saving) {
  std::vector<Step> steps;
  double all = 0;
  for (const Curve& curve : curves) all += saved_by_all(curve, saving);
  for (size_t i = 0; i < curves.size(); ++i) {
    const double saves = all > 0 ? saved_by_all(curves[i], saving) / all : 0;
    const std::vector<Corner> hull = hull_of(curves[i]);
    for (size_t k = 1; k < hull.size() && saves > 0; ++k) {
      const double share = hull[k].share - hull[k - 1].share, saved = share * saves;
      steps.push_back({i, share, saved, (hull[k].loss - hull[k - 1].loss) / saved});
    }
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.price < b.price; });
  return steps;
}

}  // namespace

/// A line through 0 nearest to what was measured, since single measurements
/// of time are worth little.
double saved_by_all(const Curve& curve, Saving saving) {
  if (saving == Saving::kSize) return curve.size;
  double products = 0, squares = 0;
  for (const CurvePoint& p : curve.points) {
    products += p.share * (saving == Saving::kMacs ? p.macs : p.time);
    squares += p.share * p.share;
  }
  return squares > 0 ? std::max(0.0, products / squares) : 0;
}

Shares shares_of_least_loss(std::span<const Curve> curves, Saving saving, double wanted) {
  Shares shares;
  for (const Curve& curve : curves) shares.emplace_back(curve.name, 0);
  for (const Step& step : steps_of(curves, saving)) {
    const double part = std::clamp(wanted / step.saved, 0.0, 1.0);
    shares[step.curve].second += part * step.share;
    wanted -= part * step.saved;
  }
  for (auto& [name, share] : shares) share = std::min(1.0, std::round(share * 1e4) / 1e4);  // so that specs are short
  return shares;
}

std::optional<double> share_of(const Shares& shares, const std::string& name) {
  const auto found = std::find_if(shares.begin(), shares.end(), [&](const auto& one) { return one.first == name; });
  return found == shares.end() ? std::nullopt : std::optional(found->second);
}

void check_names(const Shares& shares, const std::vector<std::string>& names) {
  for (const auto& [name, share] : shares)
    if (std::find(names.begin(), names.end(), name) == names.end())
      usage_error(fmt::format("nothing that is called '{}' can be pruned so", name), "shares", suggestion(name, names));
}

std::vector<std::string> told_apart(std::vector<std::string> names) {
  std::map<std::string, int> seen;
  for (std::string& name : names)
    if (const int n = ++seen[name]; n > 1) name += "#" + std::to_string(n);
  return names;
}

}  // namespace mlopt::prune
