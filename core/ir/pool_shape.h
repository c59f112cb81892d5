#pragma once
#include <algorithm>
#include <vector>

#include "core/base/expected.h"
#include "core/ir/view.h"
#include "core/tensor/dims.h"

namespace mlopt {

/// One spatial axis of a pool.
struct PoolAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0;

  /// Nothing is pooled along it: every position is its own window.
  bool is_still() const { return kernel == 1 && stride == 1 && begin == 0 && in == out; }

  /// fn(input index) for the taps of position `o` that lie on the input.
  template <class Fn>
  void each_tap(int64_t o, const Fn& fn) const {
    for (int64_t k = 0; k < kernel; ++k)
      if (const int64_t i = o * stride - begin + k * dilation; i >= 0 && i < in) fn(i);
  }
};

/// The windows of a pool over 1 to 3 spatial axes.
struct Pool {
  static constexpr int kAxes = 3;
  PoolAxis axes[kAxes];  ///< depth, height, width; absent ones have length 1
  bool average = false;
  std::vector<int64_t> divisors[kAxes];  ///< of averages: for each position of each axis

  /// Of a window, at most.
  int64_t taps() const {
    int64_t count = 1;
    for (const PoolAxis& a : axes) count *= std::min(a.kernel, a.in);
    return count;
  }
};

/// The pool of the node's attributes over an input of these dims [N, C, spatial...]. Declines malformed attributes,
/// which the reference kernels explain.
Expected<Pool> pool_of(const NodeView& view, const Dims& x, bool average);
/// What it makes of them.
Dims pooled(const Pool& pool, const Dims& x);

}  // namespace mlopt
