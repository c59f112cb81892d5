#pragma once
#include <vector>

#include "core/base/rng.h"

namespace mlopt::quickstart {

/// x to the right, y downwards.
struct Point {
  double x = 0, y = 0;
};
/// Joined by straight lines.
using Stroke = std::vector<Point>;

/// The strokes of digit 0 to 9 inside the unit square, in one of the ways in which people write it; curves are cut into
/// short lines.
std::vector<Stroke> digit_strokes(int digit, Rng& rng);

}  // namespace mlopt::quickstart
