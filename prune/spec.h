#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prune/granularity.h"

namespace mlopt::prune {

/// The methods that have a training of their own before anything is removed, see penalties.h and dropouts.h.
inline constexpr std::string_view kRegularization = "regularization", kDropout = "dropout";

/// A whole pruning as one string, "magnitude:granularity=element;sparsity=0.5;allocation=global": parsed and printed by
/// one function each, stored in the report and in the output's metadata.
struct Spec {
  std::string method = "magnitude";  ///< a row of criteria()
  Granularity granularity;
  std::optional<double> sparsity;   ///< the share that is removed, of weights or of what the granularity counts
  std::optional<double> threshold;  ///< instead: what scores less is removed
  std::optional<double> flops;      ///< instead: the share of the multiply-accumulates that stays (channels, heads)
  std::optional<int64_t>
      round;                ///< channels that stay are rounded up to multiples of it; unset: 8 where there are many
  std::string allocation;   ///< a row of allocations(); empty: as the method does best
  std::string scale;        ///< a row of scales(): what scores are divided by; empty: as the allocation wants
  std::string norm = "l2";  ///< of what is removed as one: l1 or l2
  std::string dropout;      ///< of the method dropout: a row of dropouts(); empty: the usual one
  uint64_t seed = 0;        ///< of random, and of the noise of dropout
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

/// What does not go together, or is missing: Error{kUsage}; what there is not yet: Error{kUnsupported} naming what
/// there is.
void check(const Spec& spec);

}  // namespace mlopt::prune
