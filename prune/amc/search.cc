#include "prune/amc/search.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "prune/amc/agent.h"

namespace mlopt::prune {
namespace {

constexpr double kDeviation = 0.5, kLastDeviation = 0.01;
constexpr double kExplored = 0.25;  // of the episodes
constexpr int kSteps = 12;          // of halving
constexpr int kUpdates = 4;         // for each decision: runs of a network cost more than these
constexpr double kNear = 1e-9;      // of budgets: what sums may be off by

/// The least number from `low` to `high` that is enough, by halving; `high` is.
template <class Enough>
double least_that(double low, double high, const Enough& enough) {
  if (enough(low)) return low;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

/// Each number as a share of the greatest of its column.
std::vector<std::vector<double>> scaled(std::vector<std::vector<double>> rows) {
  for (size_t k = 0; !rows.empty() && k < rows.front().size(); ++k) {
    double most = 0;
    for (const auto& row : rows) most = std::max(most, std::abs(row[k]));
    for (auto& row : rows) row[k] = most > 0 ? row[k] / most : 0;
  }
  return rows;
}

class Searching {
 public:
  Searching(const Surroundings& of, const SearchSettings& settings)
      : of_(of),
        settings_(settings),
        described_(scaled(of.groups)),
        agent_(of.groups.front().size() + 4, static_cast<float>(settings.most), settings.seed) {}

  std::vector<Episode> run() {
    const auto explored = static_cast<int64_t>(std::ceil(kExplored * static_cast<double>(settings_.episodes)));
    for (int64_t e = 0; e < settings_.episodes; ++e) {
      Episode episode = play(e, deviation(e, explored));
      if (static_cast<size_t>(e) < settings_.known.size()) {
        recall(settings_.known[static_cast<size_t>(e)], episode);
      } else {
        episode.reward = of_.reward(episode.shares);
      }
      agent_.remember(made_, static_cast<float>(episode.reward));
      for (size_t i = 0; e >= explored && i < kUpdates * made_.size(); ++i) agent_.learn();
      episodes_.push_back(std::move(episode));
      if (settings_.keep && episodes_.size() > settings_.known.size()) settings_.keep(episodes_);
    }
    return std::move(episodes_);
  }

 private:
  double deviation(int64_t episode, int64_t explored) const {
    if (episode < explored) return kDeviation;
    const auto fading = static_cast<double>(std::max<int64_t>(1, settings_.episodes - explored));
    return kDeviation * std::pow(kLastDeviation / kDeviation, static_cast<double>(episode - explored) / fading);
  }

  bool holds(std::span<const double> shares) const { return of_.left(shares) <= settings_.budget + kNear; }

  Episode play(int64_t number, double deviation) {
    const size_t groups = of_.groups.size();
    std::vector<double> shares(groups, 0), rest(groups, settings_.most);
    if (number == 0) {
      const double same =
          least_that(0, settings_.most, [&](double s) { return holds(std::vector<double>(groups, s)); });
      rest.assign(groups, same);
    }
    made_.clear();
    double before = 0;
    for (size_t g = 0; g < groups; ++g) {
      std::vector<float> state = state_of(g, before, shares);
      if (!made_.empty()) made_.back().next = state;
      // What must go at least, if of all later ones as much goes as may.
      const auto enough = [&](double share) {
        rest[g] = share;
        return holds(rest);
      };
      const double wanted = number == 0 ? rest[g] : agent_.act(state, deviation);
      before = shares[g] = rest[g] =
          least_that(wanted, std::max(wanted, number == 0 ? rest[g] : settings_.most), enough);
      made_.push_back({std::move(state), {}, static_cast<float>(before)});
    }
    return {shares, 0, of_.left(shares)};
  }

  /// What is known of a group, what went so far, what later ones could still save, and what was done last.
  std::vector<float> state_of(size_t g, double last, std::span<const double> shares) const {
    double later = 0;
    for (size_t i = g + 1; i < of_.saves.size(); ++i) later += of_.saves[i];
    std::vector<double> state = described_[g];
    const double groups = static_cast<double>(std::max<size_t>(1, of_.groups.size() - 1));
    for (const double x : {static_cast<double>(g) / groups, 1 - of_.left(shares), later, last}) state.push_back(x);
    return {state.begin(), state.end()};
  }

  /// The same was tried in it, or it is of another search.
  void recall(const Episode& known, Episode& episode) const {
    const bool same = std::equal(known.shares.begin(), known.shares.end(), episode.shares.begin(), episode.shares.end(),
                                 [](double a, double b) { return std::abs(a - b) < 1e-6; });
    if (!same)
      input_error("these episodes are of another search, or of another build", settings_.known_from,
                  "remove the file, or name another");
    episode.reward = known.reward;
  }

  const Surroundings& of_;
  const SearchSettings& settings_;
  const std::vector<std::vector<double>> described_;
  Agent agent_;
  std::vector<Transition> made_;
  std::vector<Episode> episodes_;
};

}  // namespace

std::vector<Episode> search_shares(const Surroundings& of, const SearchSettings& settings) {
  if (of.groups.empty()) return {};
  return Searching(of, settings).run();
}

size_t best_of(const std::vector<Episode>& episodes) {
  return static_cast<size_t>(std::max_element(episodes.begin(), episodes.end(),
                                              [](const Episode& a, const Episode& b) { return a.reward < b.reward; }) -
                             episodes.begin());
}

}  // namespace mlopt::prune
