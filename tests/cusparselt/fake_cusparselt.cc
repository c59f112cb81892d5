// What stands for cuSPARSELt in tests: weights keep two numbers of four and where they were, products are those that
// are defined, of numbers in memory of the host.
#include "tests/cusparselt/fake_cusparselt.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "backends/gpu/device/number.h"

namespace {

using mlopt::gpu::Brain;
using mlopt::gpu::Half;
using mlopt::gpu::narrow;
using mlopt::gpu::widen;

constexpr int kWrong = 3, kNotSupported = 10, kHalf = 2, kBFloat16 = 14, kColumns = 1, kRows = 2, kInFloat = 2;

FakeCusparselt state;

struct Matrix {
  int64_t rows, columns, pitch;
  int type, order;
  bool structured;
};
struct Product {
  int left, right;
  Matrix a, b, d;
};

template <class T>
T& as(void* at) {
  return *static_cast<T*>(at);
}
template <class T>
const T& as(const void* at) {
  return *static_cast<const T*>(at);
}

float read(int type, const void* at, int64_t i) {
  return type == kHalf ? widen(static_cast<const Half*>(at)[i]) : widen(static_cast<const Brain*>(at)[i]);
}

int describe(void* into, int64_t rows, int64_t columns, int64_t pitch, uint32_t alignment, int type, int order,
             bool structured) {
  if (alignment != 16 || (type != kHalf && type != kBFloat16) || rows % 8 != 0 || columns % 8 != 0)
    return kNotSupported;
  if (pitch != (order == kRows ? columns : rows)) return kWrong;
  as<Matrix>(into) = {rows, columns, pitch, type, order, structured};
  return 0;
}

/// Two numbers of each four along k, and their places, of a matrix [n, k].
struct Kept {
  uint16_t number[2];
  uint8_t place[2];
};

/// Are all at multiples of the alignment that descriptions promise?
bool are_aligned(std::initializer_list<const void*> matrices) {
  for (const void* at : matrices)
    if (reinterpret_cast<uintptr_t>(at) % 16 != 0) return ++state.misaligned, false;
  return true;
}

int64_t rows_of(const Matrix& m, bool transposed) { return transposed ? m.columns : m.rows; }
int64_t depth_of(const Matrix& m, bool transposed) { return transposed ? m.rows : m.columns; }

}  // namespace

extern "C" {

[[gnu::visibility("default")]] FakeCusparselt* fake_cusparselt() { return &state; }

[[gnu::visibility("default")]] int cusparseLtGetProperty(int which, int* value) {
  *value = !state.present ? 0 : which == 0 ? 0 : which == 1 ? 8 : 1;
  return 0;
}
[[gnu::visibility("default")]] int cusparseLtInit(void*) { return 0; }
[[gnu::visibility("default")]] int cusparseLtDestroy(const void*) { return 0; }
[[gnu::visibility("default")]] int cusparseLtDenseDescriptorInit(const void*, void* into, int64_t rows, int64_t columns,
                                                                 int64_t pitch, uint32_t alignment, int type,
                                                                 int order) {
  return describe(into, rows, columns, pitch, alignment, type, order, false);
}
[[gnu::visibility("default")]] int cusparseLtStructuredDescriptorInit(const void*, void* into, int64_t rows,
                                                                      int64_t columns, int64_t pitch,
                                                                      uint32_t alignment, int type, int order,
                                                                      int sparsity) {
  return sparsity == 0 ? describe(into, rows, columns, pitch, alignment, type, order, true) : kWrong;
}
[[gnu::visibility("default")]] int cusparseLtMatDescriptorDestroy(const void*) { return 0; }

[[gnu::visibility("default")]] int cusparseLtMatmulDescriptorInit(const void*, void* into, int left, int right,
                                                                  const void* a, const void* b, const void* c,
                                                                  const void* d, int compute) {
  const Product made{left, right, as<Matrix>(a), as<Matrix>(b), as<Matrix>(d)};
  if (state.refuses || compute != kInFloat || c != d || !made.a.structured || made.b.structured) return kNotSupported;
  const bool fits = rows_of(made.a, left) == made.d.rows && depth_of(made.a, left) == rows_of(made.b, right) &&
                    depth_of(made.b, right) == made.d.columns;
  as<Product>(into) = made;
  return fits && made.d.order == kColumns ? 0 : kWrong;
}
[[gnu::visibility("default")]] int cusparseLtMatmulAlgSelectionInit(const void*, void*, const void*, int) { return 0; }
[[gnu::visibility("default")]] int cusparseLtMatmulPlanInit(const void*, void* into, const void* product, const void*) {
  as<Product>(into) = as<Product>(product);
  return 0;
}
[[gnu::visibility("default")]] int cusparseLtMatmulPlanDestroy(const void*) { return 0; }
[[gnu::visibility("default")]] int cusparseLtMatmulGetWorkspace(const void*, const void*, size_t* bytes) {
  *bytes = 64;
  return 0;
}

[[gnu::visibility("default")]] int cusparseLtSpMMACompressedSize2(const void*, const void* matrix, size_t* bytes,
                                                                  size_t* room) {
  const auto& m = as<Matrix>(matrix);
  *bytes = static_cast<size_t>(m.rows * m.columns / 4) * sizeof(Kept);
  *room = 16;
  return m.structured ? 0 : kWrong;
}
[[gnu::visibility("default")]] int cusparseLtSpMMACompress2(const void*, const void* matrix, int is_left, int operation,
                                                            const void* from, void* to, void* room, void*) {
  const auto& m = as<Matrix>(matrix);
  if (!is_left || !room || !are_aligned({from, to})) return kWrong;
  ++state.compressed;
  const int64_t n = rows_of(m, operation), k = depth_of(m, operation);
  const auto* numbers = static_cast<const uint16_t*>(from);
  auto* kept = static_cast<Kept*>(to);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; j += 4, ++kept) {
      *kept = {{0, 0}, {0, 0}};
      int found = 0;
      for (uint8_t p = 0; p < 4; ++p) {
        const uint16_t number = numbers[operation ? (j + p) * n + i : i * k + j + p];
        if ((number & 0x7fff) == 0) continue;
        if (found == 2) return kWrong;
        kept->number[found] = number;
        kept->place[found++] = p;
      }
    }
  return 0;
}

[[gnu::visibility("default")]] int cusparseLtMatmul(const void*, const void* plan, const void* alpha, const void* a,
                                                    const void* b, const void* beta, const void*, void* d, void* room,
                                                    void**, int32_t streams) {
  const auto& p = as<Product>(plan);
  if (as<float>(alpha) != 1 || as<float>(beta) != 0 || streams != 1 || !room || !p.right || p.b.order != kRows)
    return kWrong;
  if (!are_aligned({a, b, d})) return kWrong;
  ++state.multiplied;
  const int64_t n = p.d.rows, m = p.d.columns, k = depth_of(p.a, p.left);
  const auto* kept = static_cast<const Kept*>(a);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) {
      float sum = 0;
      for (int64_t q = 0; q < k / 4; ++q)
        for (int h = 0; h < 2; ++h) {
          const Kept& two = kept[i * (k / 4) + q];
          sum += read(p.a.type, two.number, h) * read(p.b.type, b, j * k + q * 4 + two.place[h]);
        }
      if (p.d.type == kHalf)
        static_cast<Half*>(d)[j * n + i] = narrow<Half>(sum);
      else
        static_cast<Brain*>(d)[j * n + i] = narrow<Brain>(sum);
    }
  return 0;
}
}
