#pragma once
// Numbers as codes: integers with a scale and a zero point, for a tensor, for each index of an axis, or for blocks.
#include "backends/gpu/device/float8.h"
#include "backends/gpu/device/launch.h"
#include "backends/gpu/device/walk.h"
#include "core/base/activation.h"

namespace mlopt::gpu {

/// Integers of 2 to 32 bits, those below 8 in shared bytes, the low bits first; or floats of 8 or 4 bits.
struct Codes {
  int bits;
  bool is_signed;
  int exponent = 0;  ///< bits of it; 0: integers
};

/// Which scale and zero point element i of [outer, length, inner] has: that of its block along the middle axis.
struct ScaleMap {
  Divider length, inner, block;
  int32_t outer_step = 0, axis_step = 0, inner_step = 0;  ///< in scales; all 0: one for the tensor

  MLOPT_DEVICE uint32_t at(uint32_t i) const {
    const uint32_t line = inner.quotient(i), o = length.quotient(line);
    const uint32_t n = block.quotient(line - o * length.divisor), k = i - line * inner.divisor;
    return o * static_cast<uint32_t>(outer_step) + n * static_cast<uint32_t>(axis_step) +
           k * static_cast<uint32_t>(inner_step);
  }
};

/// out = saturate(round(in / scale) + zero point), ties to even, NaN to the lowest code; the quotient is rounded to the
/// type of the scales. `zero` has codes like `out`, or is null; so may be `scale`, which is 1 then. Floats of 8 bits
/// are the quotient itself, rounded.
struct QuantizeArgs {
  Elem type, scale_type;  ///< float
  Codes codes;
  ScaleMap map;
  int64_t count;
  const void *in, *scale, *zero;
  void* out;
};
Status quantize(Queue& queue, const QuantizeArgs& args);

/// out = (in - zero point) * scale. `scale` may be null: 1.
struct DequantizeArgs {
  Elem type, scale_type;  ///< of `out` and the scales, float
  Codes codes;
  ScaleMap map;
  int64_t count;
  const void *in, *scale, *zero;
  void* out;
};
Status dequantize(Queue& queue, const DequantizeArgs& args);

/// The scale and the zero point (uint8) of the range between *low and *high, which takes in zero.
struct RangeArgs {
  const float *low, *high;
  float* scale;
  uint8_t* zero;
};
Status quantized_range(Queue& queue, const RangeArgs& args);

/// 8-bit codes, signed or not, of one scale and zero point.
struct CodeSteps {
  const void *codes, *scale, *zero;
};
/// out[walk 2] = op(a[walk 0], b[walk 1]), or act(a) where `alone`, on what codes of a and b are worth, as codes again.
struct CodeMapArgs {
  bool is_signed;          ///< all codes
  Elem scale_type;         ///< float
  bool alone, multiplies;  ///< else it adds
  Activation act;
  Walk<3> walk;
  CodeSteps a, b;
  const void *scale, *zero;  ///< of the output
  void* out;
};
Status code_map(Queue& queue, const CodeMapArgs& args);

/// out[i] = the mean of what the codes of row i of [rows, length] are worth, as codes again.
struct CodeMeansArgs {
  bool is_signed;
  Elem scale_type;
  int64_t rows, length;
  CodeSteps in;
  const void *scale, *zero;
  void* out;
};
Status code_means(Queue& queue, const CodeMeansArgs& args);

/// Weights [n, k] as codes in blocks along k, each row in whole blocks. A code c is worth (c - zero) * scale; scales
/// are [n, blocks]; zero points are packed codes, rows in whole bytes, or numbers of `zero_type`, or in the middle
/// where null.
struct NBitsArgs {
  Elem type;  ///< of a, scales, bias and out: float
  Elem zero_type;
  bool packed_zeros;
  int bits;          ///< 2, 4 or 8
  Float8 float8{0};  ///< else codes are worth 2^-8 of what such floats are (E5M2: 2^-15), of 8 bits without zero points
  int64_t m, n, k, block;
  const void *a, *codes, *scales, *zeros, *bias;
  void* out;
};
/// out [m, n] = a [m, k] times the weights, transposed, plus bias [n] where given; for few rows.
Status nbits_product(Queue& queue, const NBitsArgs& args);
/// out [n, k] = the weights.
Status nbits_unpack(Queue& queue, const NBitsArgs& args);

/// Weights [n, k] as codes of 4 bits, the high half of a byte first, in blocks that may run from one row into the next.
/// A code c is worth levels[c] * scale.
struct LevelsArgs {
  Elem type, scale_type;  ///< of a and out, and of the scales: float
  float levels[16];
  int64_t m, n, k, block;
  const void *a, *codes, *scales;
  void* out;
};
/// out [m, n] = a [m, k] times the weights, transposed; for few rows, k and block that are multiples of 16.
Status levels_product(Queue& queue, const LevelsArgs& args);
/// out [n, k] = the weights.
Status levels_unpack(Queue& queue, const LevelsArgs& args);

}  // namespace mlopt::gpu
