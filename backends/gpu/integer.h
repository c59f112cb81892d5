#pragma once
#include "backends/gpu/operand.h"

namespace mlopt::gpu {

/// A code of 8 bits.
bool is_byte(DType type);

/// DynamicQuantizeLinear of `count` numbers in rows: what quantize.cc launches for itself and for others.
struct DynamicQuantize {
  int64_t rows, length, count;

  explicit DynamicQuantize(const TensorDesc& x) : length(x.dims.empty() ? 1 : x.dims.back()), count(x.size()) {
    rows = length > 0 ? count / length : 0;
  }
  size_t scratch_bytes() const { return static_cast<size_t>(rows + 2) * sizeof(float); }
  /// float32 `in` to codes, their scale and zero point, by `scratch`.
  void run(const Buffers& b, const void* in, std::byte* scratch, void* codes, float* scale, uint8_t* zero) const;
};

/// A product of arrays of matrices of codes; `out` has its dims.
struct IntegerProduct {
  IntegerProductArgs args{};
  Dims out{};
  bool one_right = false;  ///< one matrix b serves all
};
/// Of inputs a and b, whose zero points are inputs az and bz (-1: none, and `a` is unsigned with one for all).
Expected<IntegerProduct> integer_product_of(const Site& site, int a, int az, int b, int bz);

}  // namespace mlopt::gpu
