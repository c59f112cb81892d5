#pragma once
#include "backends/cpu/dnn.h"
#include "core/base/expected.h"

namespace mlopt::cpu {

/// A matrix product as a primitive sees it: one leading axis for each kind of batch that the operands do not step
/// through alike, none when the right operand is a single matrix.
struct Product {
  Dims a, b, out;  ///< [batch..., m, k], [batch..., k, n], [batch..., m, n]
  Dims result;     ///< the output as NumPy's matmul shapes it

  int64_t m() const { return a[a.size() - 2]; }
  int64_t k() const { return a.back(); }
  int64_t n() const { return b.back(); }
};

/// The product of tensors of these shapes (vectors too), the last two axes swapped first where asked. Declines shapes
/// that do not fit, which the reference kernel explains.
Expected<Product> product_of(Dims a, Dims b, bool swap_a = false, bool swap_b = false);

/// Row-major memory of a matrix (or a batch of them) of these dims, or of its transpose when `swapped`.
Desc matrix(Elem type, const Dims& dims, bool swapped);

}  // namespace mlopt::cpu
