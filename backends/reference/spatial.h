#pragma once
#include <algorithm>
#include <cstdint>

#include "core/exec/kernel.h"
#include "core/tensor/dims.h"

namespace mlopt::reference {

/// How the window of a convolution or a pool slides over the spatial axes: each list has one entry an axis. Element k
/// of the window at output o lies on input o * stride - begin + k * dilation.
struct Window {
  Dims in, kernel, stride, dilation, begin, end, out;  ///< begin and end: padding before and after

  size_t rank() const { return in.size(); }
  /// Input elements that the window spans.
  int64_t extent(size_t axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
  int64_t in_size() const { return element_count(in); }
  int64_t kernel_size() const { return element_count(kernel); }
  int64_t out_size() const { return element_count(out); }
};

/// The window of the call's node (attributes strides, dilations, pads, auto_pad, ceil_mode) over an input of shape
/// [N, C, spatial...]; throws Error{kBadInput} naming the node for attributes that make no sense or too large a kernel.
Window sliding_window(const Call& call, const Dims& input, Dims kernel);

/// The attribute with one entry a spatial axis, each at least `least`; `otherwise` repeated when it is absent.
Dims spatial_attribute(const Call& call, const char* attr, size_t rank, int64_t otherwise, int64_t least);

/// Next index of a nested loop over `dims` (last axis fastest); false after the last one.
inline bool advance(Dims& index, const Dims& dims) {
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (++index[axis] < dims[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

/// Calls fn(o, count, i) for runs of outputs o, o + 1, ... o + count - 1 among [from, to) (flat) whose window element
/// `k` lies inside the input: that of output o + j is at flat input index i + j * w.stride.back().
template <class Fn>
void for_inside(const Window& w, const Dims& k, int64_t from, int64_t to, const Fn& fn) {
  const size_t last = w.rank() - 1;
  const int64_t row = w.out[last], stride = w.stride[last];
  const int64_t shift = k[last] * w.dilation[last] - w.begin[last];
  // Outputs x of a row with 0 <= x * stride + shift < in.
  const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t past = w.in[last] <= shift ? 0 : std::min(row, (w.in[last] - shift + stride - 1) / stride);
  for (int64_t o = from; o < to;) {
    const int64_t column = o % row, row_end = std::min(to, o - column + row);
    int64_t rest = o / row, offset = 0, step = w.in[last];
    bool inside = true;
    for (size_t axis = last; axis-- > 0; rest /= w.out[axis]) {
      const int64_t i = rest % w.out[axis] * w.stride[axis] - w.begin[axis] + k[axis] * w.dilation[axis];
      inside = inside && i >= 0 && i < w.in[axis];
      offset += i * step;
      step *= w.in[axis];
    }
    const int64_t x0 = std::max(column, first), x1 = std::min(column + row_end - o, past);
    if (inside && x0 < x1) fn(o - column + x0, x1 - x0, offset + x0 * stride + shift);
    o = row_end;
  }
}

}  // namespace mlopt::reference
