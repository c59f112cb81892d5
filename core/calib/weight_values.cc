#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/parallel.h"
#include "core/calib/weights.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

// Of a tile: rows that are read together, of so many columns. Columns lie far apart in memory, each in a page of its
// own, and the fewer times these are come back to the better.
constexpr int64_t kTall = 64, kWide = 16;

/// Rows [first, first + count) of the weight, at most kTall, where `from` may be a view that is not aligned: a copy of
/// it is dear for a few rows. Rows that lie beside one another are read together and turned in a tile that the cache
/// holds.
void load_rows(const Weight& weight, const std::byte* from, int64_t first, int64_t count, float* to) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(float));
  const int64_t* rows = weight.row_at.data() + first;
  bool together = count == kTall;
  for (int64_t r = 1; r < count; ++r) together &= rows[r] == rows[r - 1] + 1;
  std::array<std::array<float, kTall>, kWide> tile;
  for (int64_t c = 0; c < weight.columns; c += kWide) {
    const int64_t width = std::min(kWide, weight.columns - c);
    for (int64_t k = 0; k < width; ++k) {
      const std::byte* column = from + weight.column_at[static_cast<size_t>(c + k)] * kSize;
      float* line = tile[static_cast<size_t>(k)].data();
      if (together)
        std::memcpy(line, column + rows[0] * kSize, kTall * kSize);
      else
        for (int64_t r = 0; r < count; ++r) std::memcpy(line + r, column + rows[r] * kSize, kSize);
    }
    for (int64_t r = 0; r < count; ++r)
      for (int64_t k = 0; k < width; ++k)
        to[r * weight.columns + c + k] = tile[static_cast<size_t>(k)][static_cast<size_t>(r)];
  }
}

}  // namespace

Matrix load(const Weight& weight) { return load(weight, 0, weight.rows); }

Matrix load(const Weight& weight, int64_t first, int64_t count) {
  const Tensor numbers = cast(*weight.value->constant, DType::kF32);
  Matrix matrix = Matrix::zeros(count, weight.columns);
  parallel_for((count + kTall - 1) / kTall, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin * kTall; r < std::min(count, end * kTall); r += kTall)
      load_rows(weight, numbers.raw(), first + r, std::min(kTall, count - r), &matrix.at(r, 0));
  });
  return matrix;
}

namespace {

/// What does not change keeps all its bits.
template <class T>
void put(const Weight& weight, const Matrix& matrix, T* out) {
  size_t i = 0;
  for (const int64_t r : weight.row_at)
    for (const int64_t c : weight.column_at) {
      T& x = out[r + c];
      const float wanted = matrix.values[i++];
      if (static_cast<float>(x) != wanted) x = wanted;
    }
}

}  // namespace

void store(const Weight& weight, const Matrix& matrix) {
  const Tensor& old = *weight.value->constant;
  Tensor stored = old;
  if (old.dtype() == DType::kF32) {
    put(weight, matrix, stored.mutable_data<float>());
    old.release_pages();
  } else {
    Tensor numbers = cast(old, DType::kF64);
    put(weight, matrix, numbers.mutable_data<double>());
    stored = cast(numbers, old.dtype());
  }
  if (Node* producer = weight.value->producer) {
    producer->attrs.clear();
    producer->set_attr("value", stored);
  }
  weight.value->constant = std::move(stored);
}

}  // namespace mlopt
