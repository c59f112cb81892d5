#include "core/base/gemm.h"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <new>

#include "core/base/align.h"
#include "core/base/gemm_kernel.h"
#include "core/base/parallel.h"

namespace mlopt {
namespace {

// Block sizes in elements (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008): a packed
// block of A stays in the second-level cache, a panel of B in the first, the packed block of B in the third.
constexpr int64_t kBlockM = 96, kBlockN = 1024, kBlockK = 256;
// Multiply-adds below which another thread costs more than it gives.
constexpr int64_t kThreadGrain = 1 << 18;

template <class T>
hwy::AlignedFreeUniquePtr<T[]> buffer(int64_t size) {
  auto memory = hwy::AllocateAligned<T>(static_cast<size_t>(size));
  if (!memory) throw std::bad_alloc();
  return memory;
}

/// The part of C that one thread computes, and what with.
template <class T>
struct Product {
  int64_t m, n, k;
  Strided<T> a, b;
  T* c;
  int64_t ldc;
  bool add;
};

/// A panel holds `rows` rows of A: its element (i, p) at [p * rows + i]; rows beyond m are zero.
template <class T>
void pack_a(const Product<T>& x, int64_t i0, int64_t m, int64_t k0, int64_t k, int64_t rows, T* out) {
  for (int64_t panel = 0; panel < m; panel += rows, out += rows * k) {
    const int64_t full = std::min(rows, m - panel);
    if (full < rows) std::fill(out, out + rows * k, T{0});
    for (int64_t i = 0; i < full; ++i) {
      const T* in = x.a.data + (i0 + panel + i) * x.a.row + k0 * x.a.col;
      for (int64_t p = 0; p < k; ++p) out[p * rows + i] = in[p * x.a.col];
    }
  }
}

/// A panel holds `columns` columns of B: its element (p, j) at [p * columns + j]; columns beyond n are zero.
template <class T>
void pack_b(const Product<T>& x, int64_t k0, int64_t k, int64_t j0, int64_t n, int64_t columns, T* out) {
  for (int64_t panel = 0; panel < n; panel += columns, out += columns * k) {
    const int64_t full = std::min(columns, n - panel);
    if (full < columns) std::fill(out, out + columns * k, T{0});
    const T* in = x.b.data + k0 * x.b.row + (j0 + panel) * x.b.col;
    if (x.b.col == 1) {
      for (int64_t p = 0; p < k; ++p) std::copy_n(in + p * x.b.row, full, out + p * columns);
    } else {
      for (int64_t j = 0; j < full; ++j) {
        for (int64_t p = 0; p < k; ++p) out[p * columns + j] = in[j * x.b.col + p * x.b.row];
      }
    }
  }
}

/// All tiles of packed blocks of A (m x k) and B (k x n); tiles that stick out are computed aside.
template <class T>
void multiply_block(const GemmKernel<T>& kernel, int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c,
                    int64_t ldc, bool add) {
  alignas(64) T edge[kMaxTile];
  for (int64_t j = 0; j < n; j += kernel.columns) {
    for (int64_t i = 0; i < m; i += kernel.rows) {
      const T* pa = a + i * k;
      const T* pb = b + j * k;
      T* pc = c + i * ldc + j;
      const int64_t rows = std::min<int64_t>(kernel.rows, m - i), columns = std::min<int64_t>(kernel.columns, n - j);
      if (rows == kernel.rows && columns == kernel.columns) {
        kernel.tile(k, pa, pb, pc, ldc, add);
        continue;
      }
      kernel.tile(k, pa, pb, edge, kernel.columns, false);
      for (int64_t r = 0; r < rows; ++r) {
        const T* from = edge + r * kernel.columns;
        T* to = pc + r * ldc;
        for (int64_t s = 0; s < columns; ++s) to[s] = add ? to[s] + from[s] : from[s];
      }
    }
  }
}

template <class T>
void multiply(const GemmKernel<T>& kernel, const Product<T>& x) {
  const int64_t block_m = std::min(kBlockM, round_up(x.m, kernel.rows)), block_k = std::min(kBlockK, x.k);
  const int64_t block_n = std::min(kBlockN, round_up(x.n, kernel.columns));
  const auto packed_a = buffer<T>(block_m * block_k), packed_b = buffer<T>(block_k * block_n);
  for (int64_t j = 0; j < x.n; j += block_n) {
    const int64_t n = std::min(block_n, x.n - j);
    for (int64_t p = 0; p < x.k; p += block_k) {
      const int64_t k = std::min(block_k, x.k - p);
      pack_b(x, p, k, j, n, kernel.columns, packed_b.get());
      for (int64_t i = 0; i < x.m; i += block_m) {
        const int64_t m = std::min(block_m, x.m - i);
        pack_a(x, i, m, p, k, kernel.rows, packed_a.get());
        multiply_block(kernel, m, n, k, packed_a.get(), packed_b.get(), x.c + i * x.ldc + j, x.ldc, x.add || p > 0);
      }
    }
  }
}

/// Few rows: B is read once and in order, without packing. Nothing to gain from tiles.
template <class T>
void multiply_thin(const GemmKernel<T>& kernel, const Product<T>& x) {
  for (int64_t i = 0; i < x.m; ++i) {
    const T* a = x.a.data + i * x.a.row;
    T* c = x.c + i * x.ldc;
    if (x.b.col == 1) {
      if (!x.add) std::fill(c, c + x.n, T{0});
      for (int64_t p = 0; p < x.k; ++p) kernel.axpy(x.n, a[p * x.a.col], x.b.data + p * x.b.row, c);
    } else {
      for (int64_t j = 0; j < x.n; ++j) {
        const T sum = kernel.dot(x.k, a, x.b.data + j * x.b.col);
        c[j] = x.add ? c[j] + sum : sum;
      }
    }
  }
}

/// Is multiply_thin() possible (the steps that its kernels assume) and better?
template <class T>
bool is_thin(const Product<T>& x) {
  return x.m <= 2 && (x.b.col == 1 || (x.b.row == 1 && x.a.col == 1));
}

/// Rows and columns of the grid of threads that shares C: as many threads as have a tile each, and of these the grid
/// whose parts have the shortest outline, which is what packing costs.
struct Grid {
  int64_t rows = 1, columns = 1;
};
Grid thread_grid(int64_t m, int64_t n, int64_t threads, int64_t tile_rows, int64_t tile_columns) {
  const int64_t most_rows = round_up(m, tile_rows) / tile_rows, most_columns = round_up(n, tile_columns) / tile_columns;
  const auto outline = [&](const Grid& g) { return m / g.rows + n / g.columns; };
  Grid best;
  for (int64_t rows = 1; rows <= std::min(threads, most_rows); ++rows) {
    const Grid grid{rows, std::min(threads / rows, most_columns)};
    const int64_t more = grid.rows * grid.columns - best.rows * best.columns;
    if (more > 0 || (more == 0 && outline(grid) < outline(best))) best = grid;
  }
  return best;
}

/// Where part `index` of `parts` of n elements begins, in whole tiles.
int64_t split(int64_t n, int64_t tile, int64_t index, int64_t parts) {
  const int64_t tiles = (n + tile - 1) / tile;
  return std::min(n, tiles * index / parts * tile);
}

}  // namespace

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, Strided<T> a, Strided<T> b, T* c, int64_t ldc, bool add) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0) {
    for (int64_t i = 0; i < m && !add; ++i) std::fill(c + i * ldc, c + i * ldc + n, T{0});
    return;
  }
  const GemmKernel<T> kernel = gemm_kernel<T>();
  const Product<T> whole{m, n, k, a, b, c, ldc, add};
  const bool thin = is_thin(whole);
  const int64_t worth = std::max<int64_t>(1, m * n / 64 * k / (kThreadGrain / 64));
  const int64_t threads = std::min<int64_t>(max_threads(), worth);
  const Grid grid = thread_grid(thin ? 1 : m, n, threads, kernel.rows, kernel.columns);
  parallel_for(grid.rows * grid.columns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t r = part / grid.columns, s = part % grid.columns;
      const int64_t i0 = split(m, kernel.rows, r, grid.rows), i1 = split(m, kernel.rows, r + 1, grid.rows);
      const int64_t j0 = split(n, kernel.columns, s, grid.columns), j1 = split(n, kernel.columns, s + 1, grid.columns);
      Product<T> x = whole;
      x.m = i1 - i0, x.n = j1 - j0;
      x.a.data += i0 * a.row, x.b.data += j0 * b.col, x.c += i0 * ldc + j0;
      if (x.m <= 0 || x.n <= 0) continue;
      if (thin)
        multiply_thin(kernel, x);
      else
        multiply(kernel, x);
    }
  });
}

template void gemm<float>(int64_t, int64_t, int64_t, Strided<float>, Strided<float>, float*, int64_t, bool);
template void gemm<double>(int64_t, int64_t, int64_t, Strided<double>, Strided<double>, double*, int64_t, bool);

}  // namespace mlopt
