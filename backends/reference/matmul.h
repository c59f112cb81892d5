#pragma once
#include "backends/reference/broadcast.h"
#include "backends/reference/compute.h"
#include "core/base/gemm.h"

namespace mlopt::reference {

/// What MatMul of two shapes computes: for each index of `batch` an m x k matrix times a k x n one.
struct MatMulShape {
  int64_t m = 0, n = 0, k = 0;
  Dims a_batch, b_batch, batch, out;
  bool a_transposed = false, b_transposed = false;  ///< the matrices are stored k x m and n x k

  template <class T>
  Strided<T> a_matrix(const T* a) const {
    return a_transposed ? transpose_of(a, m) : rows_of(a, k);
  }
  template <class T>
  Strided<T> b_matrix(const T* b) const {
    return b_transposed ? transpose_of(b, k) : rows_of(b, n);
  }
};

/// The shape of NumPy's matmul: batch dimensions broadcast, a 1-D operand is a row or a column that the result lacks.
/// Throws Error{kBadInput} naming the node.
MatMulShape matmul_shape(const Call& call, Dims a, Dims b);

/// The product described by `shape` of two tensors of the same compute type. Integers wrap.
Tensor batched_product(const Call& call, const MatMulShape& shape, const Tensor& a, const Tensor& b);

/// NumPy's matmul of two tensors of the same compute type.
Tensor matmul(const Call& call, const Tensor& a, const Tensor& b);

}  // namespace mlopt::reference
