#pragma once

namespace mlopt::cpu {

/// The least and the largest multiple of the step, counted from the zero point; of binary weights only the odd ones.
struct Codes {
  float low, high;
  bool odd = false;
};

}  // namespace mlopt::cpu
