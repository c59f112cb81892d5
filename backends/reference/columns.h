#pragma once
#include <algorithm>
#include <cstdint>

#include "backends/reference/spatial.h"
#include "core/base/gemm.h"
#include "core/base/parallel.h"

namespace mlopt::reference {

/// How many columns of the matrix of windows are built at a time, of `rows` elements each: about the size of a second-
/// to third-level cache, and no more than the `most` that there are.
inline int64_t columns_at_a_time(int64_t rows, int64_t most) {
  constexpr int64_t kBudget = 1 << 20;
  return std::min(most, std::max<int64_t>(16, kBudget / std::max<int64_t>(1, rows)));
}

/// Rows (channel, kernel element) and columns [from, to) of the matrix of windows of the channels that start at x.
template <class T>
void gather_windows(const Window& w, int64_t channels, const T* x, int64_t from, int64_t to, T* columns) {
  const int64_t taps = w.kernel_size(), width = to - from, stride = w.stride.back(), plane = w.in_size();
  parallel_for(channels * taps, grain_of(width), [&](int64_t begin, int64_t end) {
    Dims k(w.rank());
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row % taps;
      for (size_t axis = w.rank(); axis-- > 0; rest /= w.kernel[axis]) k[axis] = rest % w.kernel[axis];
      T* out = columns + row * width;
      const T* in = x + row / taps * plane;
      std::fill(out, out + width, T{0});
      for_inside(w, k, from, to, [&](int64_t o, int64_t count, int64_t i) {
        T* to_row = out + (o - from);
        if (stride == 1)
          std::copy_n(in + i, count, to_row);
        else
          for (int64_t j = 0; j < count; ++j) to_row[j] = in[i + j * stride];
      });
    }
  });
}

}  // namespace mlopt::reference
