#pragma once
#include <vector>

#include "backends/reference/spatial.h"
#include "core/base/parallel.h"

namespace mlopt::reference {

/// One axis of a window at one output: the inputs first, first + dilation, ... (`count` of them) that it covers, and
/// how many of its elements lie on the padded input.
struct Cover {
  int64_t first = 0, count = 0, padded = 0;
};

/// cover[axis][output index along that axis].
std::vector<std::vector<Cover>> covers(const Window& w);

/// fn(flat input index) for every input element under the window with these covers, the last axis fastest.
template <class Fn>
void for_covered(const Window& w, const std::vector<Cover>& at, const Fn& fn, size_t axis = 0, int64_t offset = 0) {
  for (int64_t i = 0; i < at[axis].count; ++i) {
    const int64_t index = offset * w.in[axis] + at[axis].first + i * w.dilation[axis];
    if (axis + 1 == w.rank())
      fn(index);
    else
      for_covered(w, at, fn, axis + 1, index);
  }
}

/// fn(plane, flat output index in the plane, covers) for every output of every plane, planes spread over threads.
template <class Fn>
void for_windows(const Window& w, int64_t planes, const Fn& fn) {
  const auto all = covers(w);
  const int64_t plane_size = w.out_size();
  if (planes == 0 || plane_size == 0) return;
  const int64_t grain = std::max<int64_t>(1, 4096 / plane_size);
  parallel_for(planes, grain, [&](int64_t begin, int64_t end) {
    std::vector<Cover> at(w.rank());
    for (int64_t plane = begin; plane < end; ++plane) {
      Dims o(w.rank(), 0);
      for (int64_t flat = 0; flat < plane_size; ++flat, advance(o, w.out)) {
        for (size_t axis = 0; axis < w.rank(); ++axis) at[axis] = all[axis][static_cast<size_t>(o[axis])];
        fn(plane, flat, at);
      }
    }
  });
}

/// The window of a pool over x [N, C, spatial...], and the shape of what comes out of it.
Window pool_window(const Call& call, const Tensor& x);
Dims pooled_dims(const Tensor& x, const Window& w);

/// What AveragePool divides the sum of a window by: its elements inside the input, or with count_include_pad also those
/// on the padding.
double average_divisor(const Call& call, const std::vector<Cover>& at);

/// The exponent of Lp pools: a float in the first opset, an integer since.
double lp_exponent(const Call& call);

}  // namespace mlopt::reference
