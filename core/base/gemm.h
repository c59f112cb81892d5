#pragma once
#include <algorithm>
#include <cstdint>

namespace mlopt {

/// A matrix in memory: element (r, c) is data[r * row + c * col]. The steps count elements; either may be 0 or
/// negative.
template <class T>
struct Strided {
  const T* data;
  int64_t row, col;
};

/// Row-major with rows `columns` apart, and the transpose of such a matrix.
template <class T>
Strided<T> rows_of(const T* data, int64_t columns) {
  return {data, columns, 1};
}
template <class T>
Strided<T> transpose_of(const T* data, int64_t columns) {
  return {data, 1, columns};
}

/// How many items of `work` multiply-adds (or as slow) are worth a thread: the grain of a parallel_for.
inline int64_t grain_of(int64_t work) { return std::max<int64_t>(1, (int64_t{1} << 16) / std::max<int64_t>(1, work)); }

/// C = A B, or C += A B when `add`: A is m x k, B is k x n, C is m x n with rows `ldc` apart; C overlaps neither. Each
/// element is summed in the same order whatever the thread count. Uses the threads of the running plan unless it is
/// called from inside a parallel_for. T is float or double.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, Strided<T> a, Strided<T> b, T* c, int64_t ldc, bool add = false);

extern template void gemm<float>(int64_t, int64_t, int64_t, Strided<float>, Strided<float>, float*, int64_t, bool);
extern template void gemm<double>(int64_t, int64_t, int64_t, Strided<double>, Strided<double>, double*, int64_t, bool);

}  // namespace mlopt
