#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mlopt::prune {

/// Where an agent chooses what share of each group goes.
struct Surroundings {
  std::vector<std::vector<double>> groups;  ///< of each what is known of it beforehand: as many numbers each, any unit
  std::vector<double> saves;                ///< of each how much goes with it, of what the budget counts

  /// What is left with these shares of the groups removed, of what the budget counts; 1 where nothing is. More removed
  /// never leaves more.
  std::function<double(std::span<const double> shares)> left;
  /// What the result is worth; more is better.
  std::function<double(std::span<const double> shares)> reward;
};

/// A network's worth of decisions.
struct Episode {
  std::vector<double> shares;  ///< of the groups
  double reward = 0;
  double left = 0;  ///< of what the budget counts
};

inline constexpr int64_t kUsualEpisodes = 300;

struct SearchSettings {
  double budget = 1;  ///< what may be left
  double most = 0.8;  ///< of a group that may go
  int64_t episodes = kUsualEpisodes;
  uint64_t seed = 0;
  std::vector<Episode> known;  ///< the first ones of the same search, tried before it was cut off
  std::string known_from;      ///< where they were kept, for messages
  std::function<void(const std::vector<Episode>&)> keep = {};  ///< after each episode that is tried; empty: nothing
};

/// Searches the shares of the greatest reward that hold the budget (He et al. 2018, "AMC: AutoML for Model Compression
/// and Acceleration on Mobile Devices"): group by group an agent says what share goes, at least as much as is needed so
/// that the rest can still hold the budget (its algorithm 1). The first episode takes the same share of every group,
/// the first quarter explores, in the others the noise fades. Gives all episodes in order. The budget must hold with
/// `most` of each group removed. Throws Error{kBadInput} where the known episodes are of another search.
std::vector<Episode> search_shares(const Surroundings& of, const SearchSettings& settings);

/// The first of the greatest reward.
size_t best_of(const std::vector<Episode>& episodes);

}  // namespace mlopt::prune
