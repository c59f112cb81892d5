#pragma once
#include <functional>
#include <string>
#include <vector>

#include "prune/criteria.h"
#include "prune/units.h"

namespace mlopt::prune {

/// The N of every M elements of least score in a row's groups of input channels, which go: true. Where the channels are
/// no multiple of M, `leave_out` said so before.
std::vector<bool> pattern_mask(const Weight& weight, const Matrix& scores, const Granularity& granularity);
/// Why the weight cannot have the pattern; empty where it can.
std::string pattern_problem(const Weight& weight, const Granularity& granularity);

/// The elements of the units that go.
std::vector<bool> unit_mask(const Candidate& candidate);

/// Puts 0 where the mask says so.
void zero_out(const std::vector<bool>& mask, Matrix& values);

}  // namespace mlopt::prune
