#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace mlopt::quantize {

/// A table of a few values that ascend: all middles between two are compared with all numbers, without branches.
class FewLevels {
 public:
  static constexpr size_t kMost = 16;

  /// Values times `scale`; at most kMost.
  FewLevels(std::span<const float> table, float scale);

  /// The nearest value's place for each number, that of 0 for NaN; gives how many are done, the rest is too short for a
  /// vector.
  size_t code(std::span<const float> x, uint8_t* to) const;

 private:
  size_t count_;
  float scale_;
  std::array<float, kMost> middles_;
};

}  // namespace mlopt::quantize
