#pragma once
#include <cstdint>

#include "core/tensor/dtype.h"

namespace mlopt {

/// IEEE binary16 and bfloat16 as stored; arithmetic is done in float.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

/// One element of a type of 16 bits or fewer (float16, bfloat16, any float8 or float4, given by `type`) as float:
/// exact.
float small_to_float(DType type, uint16_t bits);
/// The nearest value, ties to even. Out of range: the 8 bit types give the largest value when `saturate`, else their
/// NaN or infinity as ONNX's Cast defines; float16 and bfloat16 give infinity; float4 always saturates.
uint16_t float_to_small(DType type, float value, bool saturate = true);

float to_float(Half h);
float to_float(BFloat16 h);
Half to_half(float value);
BFloat16 to_bfloat16(float value);

}  // namespace mlopt
