#include "core/ir/pool_shape.h"

#include "core/ir/window.h"

namespace mlopt {
namespace {

/// Taps of the kernel at position `o` that lie before `limit` and not before `low`, in coordinates of the input.
int64_t count_taps(const PoolAxis& a, int64_t o, int64_t low, int64_t limit) {
  int64_t count = 0;
  for (int64_t k = 0; k < a.kernel; ++k) {
    const int64_t i = o * a.stride - a.begin + k * a.dilation;
    count += i >= low && i < limit;
  }
  return count;
}

}  // namespace

Expected<Pool> pool_of(const NodeView& view, const Dims& x, bool average) {
  if (x.size() < 3 || x.size() > 2 + Pool::kAxes) return Decline{"only 1 to 3 spatial axes"};
  const Dims spatial = spatial_of(x);
  const auto w = window_over(view, spatial, view.get_ints("kernel_shape"));
  if (!w) return w.error();
  const auto out = positions(*w, spatial, view.get_int("ceil_mode", 0) != 0);
  if (!out) return out.error();
  Pool p;
  p.average = average;
  const size_t absent = Pool::kAxes - spatial.size();
  for (size_t k = 0; k < spatial.size(); ++k)
    p.axes[absent + k] = {spatial[k], (*out)[k], w->kernel[k], w->strides[k], w->dilations[k], w->begin[k], w->end[k]};
  if (!average) return p;
  const bool counts_padding = view.get_int("count_include_pad", 0) != 0;
  for (size_t k = 0; k < Pool::kAxes; ++k) {
    const PoolAxis& a = p.axes[k];
    const int64_t low = counts_padding ? -a.begin : 0, limit = a.in + (counts_padding ? a.end : 0);
    for (int64_t o = 0; o < a.out; ++o) p.divisors[k].push_back(count_taps(a, o, low, limit));
  }
  return p;
}

Dims pooled(const Pool& pool, const Dims& x) {
  Dims dims = x;
  const size_t absent = Pool::kAxes + 2 - x.size();
  for (size_t k = 2; k < x.size(); ++k) dims[k] = pool.axes[absent + k - 2].out;
  return dims;
}

}  // namespace mlopt
