#include "backends/reference/matmul.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "core/base/parallel.h"

namespace mlopt::reference {
namespace {

/// Integers: they wrap. The order of the loops reads B by rows.
template <class T>
void integer_product(const MatMulShape& s, Strided<T> a, Strided<T> b, T* c) {
  std::fill(c, c + s.m * s.n, T{0});
  for (int64_t i = 0; i < s.m; ++i, c += s.n) {
    for (int64_t p = 0; p < s.k; ++p) {
      const auto factor = static_cast<uint64_t>(a.data[i * a.row + p * a.col]);
      const T* row = b.data + p * b.row;
      for (int64_t j = 0; j < s.n; ++j)
        c[j] = static_cast<T>(static_cast<uint64_t>(c[j]) + factor * static_cast<uint64_t>(row[j * b.col]));
    }
  }
}

template <class T>
void one_product(const MatMulShape& s, const T* a, const T* b, T* c) {
  if constexpr (std::is_floating_point_v<T>)
    gemm<T>(s.m, s.n, s.k, s.a_matrix(a), s.b_matrix(b), c, s.n);
  else
    integer_product(s, s.a_matrix(a), s.b_matrix(b), c);
}

/// Offset in matrices of the operand with batch dimensions `own` for flat index `at` of `batch`.
int64_t batch_offset(int64_t at, const Dims& batch, const Dims& own) {
  int64_t offset = 0, step = 1;
  for (size_t i = 0; i < batch.size(); ++i) {
    const size_t axis = batch.size() - 1 - i;
    const int64_t index = at % batch[axis];
    at /= batch[axis];
    if (i >= own.size()) continue;
    const int64_t dim = own[own.size() - 1 - i];
    if (dim != 1) offset += index * step;
    step *= dim;
  }
  return offset;
}

void matmul_op(Call& call) {
  const Tensor &a = call.in(0), &b = call.in(1);
  if (a.dtype() != b.dtype()) fail(call, fmt::format("{} times {}", name(a.dtype()), name(b.dtype())));
  call.set(0, as(matmul(call, widened(a), widened(b)), a.dtype()));
}

/// Determinant by elimination with partial pivoting; destroys `a`.
template <class T>
T determinant(T* a, int64_t n) {
  T result = 1;
  for (int64_t col = 0; col < n; ++col) {
    int64_t pivot = col;
    for (int64_t r = col + 1; r < n; ++r)
      if (std::abs(a[r * n + col]) > std::abs(a[pivot * n + col])) pivot = r;
    if (a[pivot * n + col] == 0) return 0;
    if (pivot != col) {
      std::swap_ranges(a + pivot * n, a + pivot * n + n, a + col * n);
      result = -result;
    }
    result *= a[col * n + col];
    for (int64_t r = col + 1; r < n; ++r) {
      const T factor = a[r * n + col] / a[col * n + col];
      for (int64_t c = col; c < n; ++c) a[r * n + c] -= factor * a[col * n + c];
    }
  }
  return result;
}

void det_op(Call& call) {
  const Tensor& x = call.in(0);
  require(call, x.rank() >= 2 && x.dim(x.rank() - 1) == x.dim(x.rank() - 2), "Det needs square matrices");
  const int64_t n = x.dim(x.rank() - 1);
  with_float(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    // Elimination in double: a determinant loses digits quickly.
    Tensor work = as(x, DType::kF64);
    Tensor out(dtype_of<T>(), Dims(x.dims().begin(), x.dims().end() - 2));
    double* matrices = work.mutable_data<double>();
    T* y = out.mutable_data<T>();
    for (int64_t i = 0; i < out.size(); ++i) y[i] = static_cast<T>(determinant(matrices + i * n * n, n));
    call.set(0, as(out, x.dtype()));
  });
}

constexpr Kernel kKernels[] = {
    {"", "MatMul", matmul_op},
    {"", "Det", det_op},
};

}  // namespace

MatMulShape matmul_shape(const Call& call, Dims a, Dims b) {
  require(call, !a.empty() && !b.empty(), "a scalar cannot be multiplied as a matrix");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  MatMulShape s;
  s.m = a[a.size() - 2], s.k = a.back(), s.n = b.back();
  if (b[b.size() - 2] != s.k)
    fail(call, fmt::format("inner dimensions differ: {} times {}", to_string(a), to_string(b)));
  s.a_batch.assign(a.begin(), a.end() - 2);
  s.b_batch.assign(b.begin(), b.end() - 2);
  s.batch = broadcast_dims(call, {s.a_batch, s.b_batch});
  s.out = s.batch;
  if (!row) s.out.push_back(s.m);
  if (!column) s.out.push_back(s.n);
  return s;
}

Tensor batched_product(const Call& call, const MatMulShape& s, const Tensor& a, const Tensor& b) {
  if (compute_type(a.dtype()) != a.dtype()) wrong_type(call, a.dtype());
  Tensor out(a.dtype(), s.out);
  if (out.size() == 0) return out;
  with_number(call, a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *pa = a.data<T>(), *pb = b.data<T>();
    T* pc = out.mutable_data<T>();
    const int64_t batch = element_count(s.batch);
    // A single matrix B: the rows of all matrices A make one large product.
    if (element_count(s.b_batch) == 1 && !s.a_transposed) {
      MatMulShape flat = s;
      flat.m *= batch;
      return one_product(flat, pa, pb, pc);
    }
    // Many matrices: one thread each; few: each on all threads.
    const int64_t grain = batch >= max_threads() ? grain_of(s.m * s.n * s.k) : batch;
    parallel_for(batch, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        one_product(s, pa + batch_offset(i, s.batch, s.a_batch) * s.m * s.k,
                    pb + batch_offset(i, s.batch, s.b_batch) * s.k * s.n, pc + i * s.m * s.n);
    });
  });
  return out;
}

Tensor matmul(const Call& call, const Tensor& a, const Tensor& b) {
  return batched_product(call, matmul_shape(call, a.dims(), b.dims()), a, b);
}

std::span<const Kernel> matmul_kernels() { return kKernels; }

}  // namespace mlopt::reference
