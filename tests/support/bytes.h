#pragma once
#include "backends/cpu/bytes.h"

namespace mlopt::cpu {

/// The elements of a tensor of 8 bits.
inline Bytes bytes_of(const Tensor& t) { return {t.raw(), t.dtype() == DType::kI8}; }
inline MutableBytes bytes_of(Tensor& t) { return {t.mutable_raw(), t.dtype() == DType::kI8}; }

}  // namespace mlopt::cpu
