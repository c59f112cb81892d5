#pragma once

namespace mlopt::cpu {

/// The least and the largest multiple of the step, counted from the zero point.
struct Codes {
  float low, high;
};

}  // namespace mlopt::cpu
