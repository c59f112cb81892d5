// MaxPool and AveragePool. A window's rows are folded into one row, the row along itself at every position, and every
// stride-th position is kept: all but the last are vector loops, whatever the strides.
#include <algorithm>
#include <limits>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/pool_taps.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/window.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int kAxes = 3;

/// One axis of a pool.
struct Axis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0;

  /// Taps of the kernel at position `o` that lie before `limit` and not before `low`, in coordinates of the input.
  int64_t taps(int64_t o, int64_t low, int64_t limit) const {
    int64_t count = 0;
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t i = o * stride - begin + k * dilation;
      count += i >= low && i < limit;
    }
    return count;
  }
};

struct Pool {
  Axis axes[kAxes];  ///< depth, height, width; absent ones have length 1
  bool average = false;
  std::vector<int64_t> divisors[kAxes];  ///< of averages: for each position of each axis
};

void fold_into(const Pool& p, float* acc, const float* x, int64_t n) {
  fold(p.average ? Fold::kSum : Fold::kMax, acc, x, n);
}
void fold_into(const Pool&, uint8_t* acc, const uint8_t* x, int64_t n) { fold_max(acc, x, n); }
void fold_into(const Pool&, int8_t* acc, const int8_t* x, int64_t n) { fold_max(acc, x, n); }

template <class T>
T neutral(const Pool& p) {
  if (p.average) return 0;
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

/// fn(input index) for the taps of position `o` that lie on the input.
template <class Fn>
void for_taps(const Axis& a, int64_t o, const Fn& fn) {
  for (int64_t k = 0; k < a.kernel; ++k)
    if (const int64_t i = o * a.stride - a.begin + k * a.dilation; i >= 0 && i < a.in) fn(i);
}

/// Rows that one thread folds in.
template <class T>
struct Rows {
  std::vector<T> padded, folded;
};

/// One row of the output: positions (d, h, all w) of one plane, whose pixels have so many channels side by side.
template <class T>
void pool_row(const Pool& p, const T* plane, int64_t channels, int64_t d, int64_t h, Rows<T>& rows, T* out) {
  const Axis &depth = p.axes[0], &height = p.axes[1], &width = p.axes[2];
  const int64_t row = width.in * channels;
  std::fill(rows.padded.begin(), rows.padded.end(), neutral<T>(p));
  for_taps(depth, d, [&](int64_t z) {
    for_taps(height, h, [&](int64_t y) {
      fold_into(p, rows.padded.data() + width.begin * channels, plane + (z * height.in + y) * row, row);
    });
  });
  const auto elements = static_cast<int64_t>(rows.folded.size());
  std::copy_n(rows.padded.data(), elements, rows.folded.data());
  for (int64_t k = 1; k < width.kernel; ++k)
    fold_into(p, rows.folded.data(), rows.padded.data() + k * width.dilation * channels, elements);
  const T* from = rows.folded.data();
  for (int64_t w = 0; w < width.out; ++w, from += width.stride * channels, out += channels)
    if (channels == 1)
      *out = *from;  // a copy's call would take longer
    else
      std::copy_n(from, channels, out);
}

void divide_row(const Pool& p, int64_t channels, int64_t d, int64_t h, float* out) {
  const int64_t rows = p.divisors[0][static_cast<size_t>(d)] * p.divisors[1][static_cast<size_t>(h)];
  for (int64_t w = 0; w < p.axes[2].out; ++w, out += channels) {
    const int64_t taps = rows * p.divisors[2][static_cast<size_t>(w)];
    for (int64_t c = 0; c < channels; ++c) out[c] = taps > 0 ? out[c] / static_cast<float>(taps) : 0.0f;
  }
}

template <class T>
void pool(const Pool& p, const T* in, T* out, int64_t planes, int64_t channels) {
  const Axis &depth = p.axes[0], &height = p.axes[1], &width = p.axes[2];
  const int64_t in_plane = depth.in * height.in * width.in * channels, rows_out = depth.out * height.out;
  const int64_t work = (depth.kernel * height.kernel * width.in + width.kernel * width.out) * channels;
  constexpr int64_t kGrain = 16384;  // element operations below which a second thread costs more than it brings
  parallel_for(planes * rows_out, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
    const int64_t positions = (width.out - 1) * width.stride + 1;
    const int64_t reach = positions + (width.kernel - 1) * width.dilation;
    Rows<T> rows{std::vector<T>(static_cast<size_t>(std::max(reach, width.begin + width.in) * channels)),
                 std::vector<T>(static_cast<size_t>(positions * channels))};
    for (int64_t i = begin; i < end; ++i) {
      const int64_t d = i % rows_out / height.out, h = i % height.out;
      T* y = out + i * width.out * channels;
      pool_row(p, in + i / rows_out * in_plane, channels, d, h, rows, y);
      if constexpr (std::is_same_v<T, float>)
        if (p.average) divide_row(p, channels, d, h, y);
    }
  });
}

/// With the channels innermost, folding rows is expected to take fewer vector operations than each window's taps.
bool prefers_rows(const Pool& p, int64_t channels) {
  constexpr int64_t kLanes = 8, kPosition = 40;  // what a position costs besides its taps
  const int64_t above = p.axes[0].kernel * p.axes[1].kernel, side = p.axes[2].kernel;
  const int64_t vectors = (channels + kLanes - 1) / kLanes;
  return (above + side + 1) * p.axes[2].stride * channels < (above * side * vectors + kPosition) * kLanes;
}

Pool pool_of(const Window& w, const Dims& spatial, const Dims& out, bool average, bool counts_padding) {
  Pool p;
  p.average = average;
  const size_t absent = kAxes - spatial.size();
  for (size_t k = 0; k < spatial.size(); ++k)
    p.axes[absent + k] = {spatial[k], out[k], w.kernel[k], w.strides[k], w.dilations[k], w.begin[k], w.end[k]};
  if (!average) return p;
  for (size_t k = 0; k < kAxes; ++k) {
    const Axis& a = p.axes[k];
    const int64_t low = counts_padding ? -a.begin : 0, limit = a.in + (counts_padding ? a.end : 0);
    for (int64_t o = 0; o < a.out; ++o) p.divisors[k].push_back(a.taps(o, low, limit));
  }
  return p;
}

/// One position of the output over all channels, which are innermost. `taps` has room for those of a window.
template <class T>
void pool_position(const Pool& p, const T* image, int64_t channels, const int64_t (&at)[kAxes],
                   std::vector<const T*>& taps, T* out) {
  const Axis &depth = p.axes[0], &height = p.axes[1], &width = p.axes[2];
  taps.clear();
  for_taps(depth, at[0], [&](int64_t z) {
    for_taps(height, at[1], [&](int64_t y) {
      for_taps(width, at[2],
               [&](int64_t x) { taps.push_back(image + ((z * height.in + y) * width.in + x) * channels); });
    });
  });
  const auto count = static_cast<int64_t>(taps.size());
  if (count == 0) {
    std::fill_n(out, channels, neutral<T>(p));
  } else if constexpr (std::is_same_v<T, float>) {
    int64_t divisor = 1;
    for (int k = 0; k < kAxes && p.average; ++k) divisor *= p.divisors[k][static_cast<size_t>(at[k])];
    if (p.average)
      mean_of_taps(taps.data(), count, static_cast<float>(divisor), out, channels);
    else
      max_of_taps(taps.data(), count, out, channels);
  } else {
    max_of_taps(taps.data(), count, out, channels);
  }
}

template <class T>
void pool_channels_last(const Pool& p, const T* in, T* out, int64_t images, int64_t channels) {
  const Axis &depth = p.axes[0], &height = p.axes[1], &width = p.axes[2];
  const int64_t image = depth.in * height.in * width.in * channels, rows = depth.out * height.out;
  const int64_t work = width.out * channels * depth.kernel * height.kernel * width.kernel;
  constexpr int64_t kGrain = 65536;
  parallel_for(images * rows, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
    std::vector<const T*> taps;
    for (int64_t i = begin; i < end; ++i)
      for (int64_t w = 0; w < width.out; ++w)
        pool_position(p, in + i / rows * image, channels, {i % rows / height.out, i % height.out, w}, taps,
                      out + (i * width.out + w) * channels);
  });
}

template <class T>
std::function<void(const Buffers&)> runner(Pool p, int64_t images, int64_t channels, bool channels_last) {
  return [=, p = std::move(p)](const Buffers& b) {
    if (!channels_last)
      pool(p, b.in<T>(0), b.out<T>(0), images * channels, 1);
    else if (prefers_rows(p, channels))
      pool(p, b.in<T>(0), b.out<T>(0), images, channels);
    else
      pool_channels_last(p, b.in<T>(0), b.out<T>(0), images, channels);
  };
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const bool average = site.view.node().op == "AveragePool";
  if (site.view.node().output(1)) return Decline{"indices are asked for"};
  if (x.dtype != DType::kF32 && (average || (x.dtype != DType::kU8 && x.dtype != DType::kI8)))
    return Decline{"not this type"};
  if (x.dims.size() < 3 || x.dims.size() > 2 + kAxes) return Decline{"only 1 to 3 spatial axes"};
  const Dims spatial = spatial_of(x.dims);
  const auto window = window_over(site.view, spatial, site.view.get_ints("kernel_shape"));
  if (!window) return window.error();
  const auto out = positions(*window, spatial, site.view.get_int("ceil_mode", 0) != 0);
  if (!out) return out.error();
  PlannedStep step{.out = {{x.dtype, {x.dims[0], x.dims[1]}, x.layout}}};
  step.out[0].dims.insert(step.out[0].dims.end(), out->begin(), out->end());
  Pool p = pool_of(*window, spatial, *out, average, site.view.get_int("count_include_pad", 0) != 0);
  const bool last = x.layout == mlopt::Layout::kChannelsLast;
  if (x.dtype == DType::kF32)
    step.run = runner<float>(std::move(p), x.dims[0], x.dims[1], last);
  else if (x.dtype == DType::kU8)
    step.run = runner<uint8_t>(std::move(p), x.dims[0], x.dims[1], last);
  else
    step.run = runner<int8_t>(std::move(p), x.dims[0], x.dims[1], last);
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "MaxPool", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "AveragePool", .plan = plan, .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> pool_kernels() { return kKernels; }

}  // namespace mlopt::cpu
