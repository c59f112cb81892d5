#pragma once
#include <cstdint>
#include <vector>

#include "core/tensor/tensor.h"

namespace mlopt {

/// Elements converted to `type` as ONNX's Cast defines: floats truncate to integers, integers wrap, narrow floats round
/// to nearest even; `saturate` applies to 8 bit floats only; numbers to and from strings. Any alignment; any pair of
/// types.
Tensor cast(const Tensor& tensor, DType type, bool saturate = true);

/// All elements as double, int64 or float (numeric types and bool, any width and alignment).
std::vector<double> to_doubles(const Tensor& tensor);
std::vector<int64_t> to_ints(const Tensor& tensor);
std::vector<float> to_floats(const Tensor& tensor);
/// Element i as double, without converting the rest.
double number_at(const Tensor& tensor, int64_t i);

/// Sub-byte integers as one int8 or uint8 for each element (int4, int2 -> int8; uint4, uint2, float4 codes -> uint8),
/// and back: `bytes` holds one element a byte, in range of `type`.
Tensor unpack(const Tensor& packed);
Tensor pack(const Tensor& bytes, DType type);

}  // namespace mlopt
