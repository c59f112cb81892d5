#pragma once
#include <vector>

#include "core/calib/range.h"
#include "core/tensor/tensor.h"

namespace mlopt::quantize {

/// real = (code - zero_point) * scale, codes in [low, high].
struct Grid {
  DType type = DType::kU8;
  int low = 0, high = 255;
  float scale = 1;
  int zero_point = 0;
};

/// The scale as a float that is normal and above 0; 1 where it is none.
float usable_scale(double scale);

/// Unsigned over [min(range.min, 0), max(range.max, 0)], or signed around zero: in 16 bits as such, in fewer as codes
/// of a byte that may not use it all; of narrower integers ONNX Runtime (1.32 at least) fails to load many models, in
/// which it comes to make a QLinearConv or a MaxPool of them. The scale is never zero, denormal or infinite; a range of
/// nothing gives scale 1.
Grid activation_grid(const Range& range, bool symmetric, int bits = 8);

/// A weight as signed integers around zero with one scale (axis < 0) or one for each index of `axis`.
struct QuantizedWeight {
  Tensor codes;       ///< int4, int8 or int16, as the weight's shape
  Tensor scale;       ///< float32, scalar or [channels]
  Tensor zero_point;  ///< zeros of the codes' type, as the scale's shape
};

/// The narrowest signed integer that runtimes have for codes of a weight in so many bits.
DType weight_type(int bits);
/// The largest code of a weight, and minus the smallest; with one bit there are no others.
int most_code(int bits);

/// One for axis < 0, or one for each index of `axis`: in 8 bits those that reach the largest weight, in fewer those of
/// the least squared error. `min_scale[c]` is a lower bound of each; may be empty.
std::vector<float> weight_scales(const Tensor& weight, int axis, const std::vector<float>& min_scale = {},
                                 int bits = 8);
/// Rounds to nearest even in these steps.
QuantizedWeight quantize_by(const std::vector<float>& scales, const Tensor& weight, int axis, int bits = 8);
/// quantize_by() weight_scales().
QuantizedWeight quantize_weight(const Tensor& weight, int axis, const std::vector<float>& min_scale = {}, int bits = 8);

/// A bias as int32 in steps of input scale times weight scale.
struct QuantizedBias {
  Tensor codes;  ///< int32 [channels]
  Tensor scale;  ///< float32 [channels], or scalar when the weight has one scale
};
QuantizedBias quantize_bias(const Tensor& bias, float input_scale, const Tensor& weight_scale);

/// For each channel, the least weight scale with which no two products of neighbours in the sum leave int16: processors
/// without a dot product of bytes add pairs of uint8 x int8 there and saturate. `axis` are the output channels of a
/// matrix (0 or 1) or of a convolution's weight (0), whose sums runtimes order by place, then by input channel.
std::vector<float> pair_room(const Tensor& weight, int axis);

/// For each channel, the least weight scale with which the bias fits into int32.
std::vector<float> bias_room(const Tensor& bias, float input_scale);

}  // namespace mlopt::quantize
