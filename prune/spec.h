#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prune/granularity.h"

namespace mlopt::prune {

/// The methods that have a training of their own before anything is removed, see penalties.h and dropouts.h.
inline constexpr std::string_view kRegularization = "regularization", kDropout = "dropout";
/// The method that scores weights by how a training moves them.
inline constexpr std::string_view kMovement = "movement";

/// Of Spec::schedule.
inline constexpr std::string_view kOnce = "once", kGradual = "gradual", kLottery = "lottery",
                                  kRateRewind = "rate-rewind";

/// The allocations that go by measured curves, see curves.h: by what is lost for what is to be saved, or for the time.
inline constexpr std::string_view kSensitivity = "sensitivity", kByLatency = "latency";

/// The allocation that an agent searches, see amc/search.h.
inline constexpr std::string_view kAmc = "amc";

/// Of Spec::round: to the multiple that makes the model fastest.
inline constexpr int64_t kAutoRound = 0;

/// A whole pruning as one string, "magnitude:granularity=element;sparsity=0.5;allocation=global": parsed and printed by
/// one function each, stored in the report and in the output's metadata.
struct Spec {
  std::string method = "magnitude";  ///< a row of criteria()
  Granularity granularity;
  std::optional<double> sparsity;   ///< the share that is removed, of weights or of what the granularity counts
  std::optional<double> threshold;  ///< instead: what scores less is removed
  std::optional<double> flops;      ///< instead: the share of the multiply-accumulates that stays (channels, heads)
  std::optional<double> latency;    ///< instead: the share of the time of a run that stays, as measured
  /// Instead: the share of each group of channels, or of each layer, by the name that the report gives it; others stay.
  std::vector<std::pair<std::string, double>> shares;
  /// Channels that stay are rounded up to multiples of it; unset: 8 where there are many; kAutoRound: as measured.
  std::optional<int64_t> round;
  std::string allocation;   ///< a row of allocations(); empty: as the method does best
  int64_t episodes = 0;     ///< of the allocation amc: shares that are tried; 0: the usual number
  std::string scale;        ///< a row of scales(): what scores are divided by; empty: as the allocation wants
  std::string norm = "l2";  ///< of what is removed as one: l1 or l2
  std::string schedule;     ///< a row of schedules(): when it is removed; empty: as the method does best
  int64_t every = 0;        ///< of the schedule gradual: updates between two removals; 0: as many as make 32 of them
  int64_t rewind = 0;       ///< of lottery and rate-rewind: the update that the training goes back to
  std::string penalty;      ///< of the method regularization: a row of penalties(); empty: the usual one
  std::string dropout;      ///< of the method dropout: a row of dropouts(); empty: the usual one
  uint64_t seed = 0;        ///< of random, and of the noise of dropout and of gates
  /// In how many stages layers are looked at, each when those before are pruned; 0: as the method does best.
  int64_t stages = 0;
  int64_t iterations = 1;   ///< in which it is removed, what is left being fitted or looked at anew in between
  bool fit = false;         ///< at the end what is left is fitted to what the layers gave (--recover lstsq)
  bool statistics = false;  ///< then normalizations and biases are corrected (--recover bn)
  std::vector<std::string> only, skip;  ///< globs of layers and of weights
};

/// Throws Error{kUsage} naming the part that is wrong and the nearest that is right.
Spec parse_spec(std::string_view text);
std::string to_string(const Spec& spec);

/// "0.5" or "50%" as 0.5; throws Error{kUsage} outside 0 to 1.
double parse_share(std::string_view text, const std::string& where);

/// Is it removed in the course of a training, rather than before or behind one?
bool scheduled(const Spec& spec);

/// Is the allocation one of those?
inline bool by_curves(const Spec& spec) { return spec.allocation == kSensitivity || spec.allocation == kByLatency; }

/// Does the allocation look at results to find the shares of layers: those of curves, or an agent's?
inline bool looks_at_results(const Spec& spec) { return by_curves(spec) || spec.allocation == kAmc; }
/// Does it need curves?
inline bool needs_curves(const Spec& spec) { return by_curves(spec) || (spec.allocation == kAmc && spec.latency); }

/// What does not go together, or is missing: Error{kUsage}; what there is not yet: Error{kUnsupported} naming what
/// there is.
void check(const Spec& spec);

}  // namespace mlopt::prune
