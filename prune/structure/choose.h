#pragma once
#include <cstdint>
#include <vector>

#include "prune/spec.h"
#include "prune/structure/groups.h"

namespace mlopt::prune {

/// For each group the numbers of the channels that go, sorted.
using Removed = std::vector<std::vector<size_t>>;

/// To which multiples the channels that stay are rounded up.
struct Rounding {
  int64_t multiple = 8;       ///< 1: none
  bool small_groups = false;  ///< also groups with fewer than 4 multiples, which would else hardly lose any
  friend bool operator==(const Rounding&, const Rounding&) = default;
};

/// What the spec says, or the usual one; for kAutoRound too, until it is measured.
Rounding rounding_of(const Spec& spec);

/// The share `ratio` (0 to 1) of the channels of each group goes, those of the lowest scores; at least one stays.
Removed choose_uniform(const std::vector<std::vector<double>>& scores, double ratio, const Rounding& rounding);

/// The share `ratio` of all channels goes, those of the lowest scores wherever they are; of each group at least a tenth
/// and one stays.
Removed choose_global(const std::vector<std::vector<double>>& scores, double ratio, const Rounding& rounding);

/// Less than `threshold`, or nothing at all, which a threshold of 0 asks for.
inline bool is_below(double score, double threshold) { return score < threshold || score <= 0; }

/// All channels whose score is below `threshold`; at least one stays.
Removed choose_below(const std::vector<std::vector<double>>& scores, double threshold);

}  // namespace mlopt::prune
