#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/reference/compute.h"
#include "core/base/parallel.h"

namespace mlopt::reference {

/// The values that an integer type of 32 bits or fewer holds.
struct QuantRange {
  int64_t low = 0, high = 0;
};
QuantRange quant_range(const Call& call, DType type);

/// round(scaled) + zero_point within the range; halves go to the even neighbour, NaN to the lowest.
template <class T>
int32_t quantize_one(T scaled, int64_t zero_point, QuantRange range) {
  constexpr T kFar = T{4294967296};  // beyond any range, but safe to convert
  if (scaled != scaled) return static_cast<int32_t>(range.low);
  const auto whole = static_cast<int64_t>(std::nearbyint(std::clamp(scaled, -kFar, kFar)));
  return static_cast<int32_t>(std::clamp(whole + zero_point, range.low, range.high));
}

/// How the scales spread over a tensor: one for all, one for each index of an axis, or one for each block along an
/// axis.
class ScaleMap {
 public:
  /// `block` is the block size along `axis`, 0 without blocks. Throws naming the node when the shapes do not fit.
  ScaleMap(const Call& call, const Dims& x, const Dims& scale, int64_t axis, int64_t block);

  /// fn(start, count, s, step): element start + i has scale s + i * step, for runs that cover the tensor.
  template <class Fn>
  void for_runs(const Fn& fn) const {
    parallel_for(view_.outer * view_.length, 1 + 16384 / std::max<int64_t>(1, view_.inner),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t line = begin; line < end; ++line)
                     fn(line * view_.inner, view_.inner,
                        line / view_.length * outer_step_ + line % view_.length / block_ * axis_step_, inner_step_);
                 });
  }

 private:
  AxisView view_;
  int64_t block_ = 1;                                        ///< indices of the axis that share a scale
  int64_t outer_step_ = 0, axis_step_ = 0, inner_step_ = 0;  ///< in scales; all 0: one for the tensor
};

/// (x - zero point) * scale in `type` (float32 or float64); the zero point may be null. Integers and narrow floats.
Tensor dequantized(const Call& call, const Tensor& x, const Tensor& scale, const Tensor* zero_point,
                   const ScaleMap& map, DType type);
/// saturate(round(x / scale) + zero point) of `x` (float32 or float64, as the scale), in the integer type `type`.
Tensor quantized(const Call& call, const Tensor& x, const Tensor& scale, const Tensor* zero_point, const ScaleMap& map,
                 DType type);

/// uint8 codes with the scale and zero point of the data's own range, which always takes in zero.
struct DynamicallyQuantized {
  Tensor values, scale, zero_point;  ///< the scale has the type of x
};
DynamicallyQuantized dynamically_quantized(const Call& call, const Tensor& x);

}  // namespace mlopt::reference
