#pragma once
#include <vector>

#include "core/tensor/dtype.h"

namespace mlopt::quantize {

// What the codes of a format stand for: 2^bits numbers that ascend, of magnitude 1 at most. Formats with fewer numbers
// than codes repeat the largest.

/// {-1, 1}.
std::vector<float> binary_table();
/// The quantiles of a normal distribution (Dettmers and others 2023, "QLoRA").
std::vector<float> nf4_table();
/// The 4-bit floats of bitsandbytes: 2 bits of exponent, 1 of mantissa, and a denormal of its own.
std::vector<float> fp4_table();
/// The numbers of a float format of 8 bits, without infinities and NaN, over its largest.
std::vector<float> float8_table(DType type);
/// 0 and +-2^-k, k = 0, 1, ... `bits` from 2 to 8.
std::vector<float> power_table(int bits);
/// Sums of two numbers that are 0 or a power of two, of powers that the two take turns in, over the largest (Li, Dong
/// and Wang 2020, "Additive Powers-of-Two Quantization"). `bits` from 2 to 8.
std::vector<float> additive_power_table(int bits);

}  // namespace mlopt::quantize
