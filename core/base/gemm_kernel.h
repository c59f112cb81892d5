#pragma once
#include <cstdint>

namespace mlopt {

/// The innermost loops of a matrix product, compiled for the instruction set of this machine.
template <class T>
struct GemmKernel {
  int rows, columns;  ///< of the tile that `tile` computes
  /// tile(k, a, b, c, ldc, add): the tile at c (rows ldc apart) = or += the product of packed panels: a has `rows`
  /// elements for each of the k steps, b has `columns`, aligned to a vector.
  void (*tile)(int64_t, const T*, const T*, T*, int64_t, bool);
  /// axpy(n, factor, x, y): y += factor * x.
  void (*axpy)(int64_t, T, const T*, T*);
  /// dot(n, x, y).
  T (*dot)(int64_t, const T*, const T*);
};

/// The largest tile of any instruction set, in elements.
inline constexpr int kMaxTile = 12 * 128;

template <class T>
GemmKernel<T> gemm_kernel();
template <>
GemmKernel<float> gemm_kernel<float>();
template <>
GemmKernel<double> gemm_kernel<double>();

}  // namespace mlopt
