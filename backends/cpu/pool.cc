// MaxPool and AveragePool. A window's rows are folded into one row, the row along itself at every position, and every
// stride-th position is kept: all but the last are vector loops, whatever the strides.
#include <algorithm>

#include "backends/cpu/kernels.h"
#include "backends/cpu/pool_planes.h"
#include "backends/cpu/pool_taps.h"
#include "backends/cpu/rows.h"
#include "core/base/align.h"
#include "core/base/parallel.h"
#include "core/ir/pool_shape.h"

namespace mlopt::cpu {
namespace {

/// Rows that one thread folds in.
template <class T>
struct Rows {
  T* padded;
  T* folded;  ///< behind it
};
int64_t folded_length(const Pool& p, int64_t channels) {
  return ((p.axes[2].out - 1) * p.axes[2].stride + 1) * channels;
}

/// One row of the output: positions (d, h, all w) of one plane, whose pixels have so many channels side by side.
template <class T>
void pool_row(const Pool& p, const T* plane, int64_t channels, int64_t d, int64_t h, const Rows<T>& rows, T* out) {
  const PoolAxis &depth = p.axes[0], &height = p.axes[1], &width = p.axes[2];
  const int64_t row = width.in * channels;
  std::fill_n(rows.padded, padded_length(p.axes[2]) * channels, neutral<T>(p));
  depth.each_tap(d, [&](int64_t z) {
    height.each_tap(h, [&](int64_t y) {
      fold_into(p, rows.padded + width.begin * channels, plane + (z * height.in + y) * row, row);
    });
  });
  const int64_t elements = folded_length(p, channels);
  std::copy_n(rows.padded, elements, rows.folded);
  for (int64_t k = 1; k < width.kernel; ++k)
    fold_into(p, rows.folded, rows.padded + k * width.dilation * channels, elements);
  if (channels == 1) return pick_row(rows.folded, width.stride, width.out, out);
  const T* from = rows.folded;
  for (int64_t w = 0; w < width.out; ++w, from += width.stride * channels, out += channels)
    std::copy_n(from, channels, out);
}

void divide_row(const Pool& p, int64_t channels, int64_t d, int64_t h, float* out) {
  const int64_t rows = p.divisors[0][static_cast<size_t>(d)] * p.divisors[1][static_cast<size_t>(h)];
  for (int64_t w = 0; w < p.axes[2].out; ++w, out += channels) {
    const int64_t taps = rows * p.divisors[2][static_cast<size_t>(w)];
    for (int64_t c = 0; c < channels; ++c) out[c] = taps > 0 ? out[c] / static_cast<float>(taps) : 0.0f;
  }
}

/// Scratch of so many bytes for each thread.
struct Workers {
  int64_t count;
  size_t bytes;

  size_t scratch_bytes() const { return static_cast<size_t>(count) * bytes; }
  /// fn(begin, end, scratch) for ranges that cover [0, n), of `grain` items at most.
  template <class Fn>
  void share(int64_t n, int64_t grain, std::byte* scratch, const Fn& fn) const {
    const int64_t parts = ceil_div(n, grain);
    take_turns(std::min(count, parts), parts, [&](int64_t worker, int64_t part) {
      fn(n * part / parts, n * (part + 1) / parts, scratch + static_cast<size_t>(worker) * bytes);
    });
  }
};

template <class T>
void pool(const Pool& p, const T* in, T* out, int64_t planes, int64_t channels, const Workers& workers,
          std::byte* scratch) {
  const PoolAxis &depth = p.axes[0], &height = p.axes[1], &width = p.axes[2];
  const int64_t in_plane = depth.in * height.in * width.in * channels, rows_out = depth.out * height.out;
  const int64_t work = (depth.kernel * height.kernel * width.in + width.kernel * width.out) * channels;
  constexpr int64_t kGrain = 16384;  // element operations below which a second thread costs more than it brings
  workers.share(planes * rows_out, std::max<int64_t>(1, kGrain / work), scratch,
                [&](int64_t begin, int64_t end, std::byte* own) {
                  T* padded = reinterpret_cast<T*>(own);
                  const Rows<T> rows{padded, padded + padded_length(p.axes[2]) * channels};
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t d = i % rows_out / height.out, h = i % height.out;
                    T* y = out + i * width.out * channels;
                    pool_row(p, in + i / rows_out * in_plane, channels, d, h, rows, y);
                    if constexpr (std::is_same_v<T, float>)
                      if (p.average) divide_row(p, channels, d, h, y);
                  }
                });
}

template <class T>
void pool_planes(const PlanePool<T>& plane_pool, const Pool& p, const T* in, T* out, int64_t planes,
                 const Workers& workers, std::byte* scratch) {
  const int64_t depth = p.axes[0].out, size_in = p.axes[0].in * p.axes[1].in * p.axes[2].in;
  const int64_t size_out = p.axes[1].out * p.axes[2].out;
  constexpr int64_t kGrain = 16384;
  const int64_t work = plane_pool.room() * (p.axes[0].kernel + p.axes[1].kernel + p.axes[2].kernel);
  workers.share(planes * depth, std::max<int64_t>(1, kGrain / work), scratch,
                [&](int64_t begin, int64_t end, std::byte* own) {
                  for (int64_t i = begin; i < end; ++i)
                    plane_pool.run(in + i / depth * size_in, i % depth, reinterpret_cast<T*>(own), out + i * size_out);
                });
}

/// With the channels innermost, folding rows is expected to take fewer vector operations than each window's taps.
bool prefers_rows(const Pool& p, int64_t channels) {
  constexpr int64_t kLanes = 8, kPosition = 40;  // what a position costs besides its taps
  const int64_t above = p.axes[0].kernel * p.axes[1].kernel, side = p.axes[2].kernel;
  const int64_t vectors = (channels + kLanes - 1) / kLanes;
  return (above + side + 1) * p.axes[2].stride * channels < (above * side * vectors + kPosition) * kLanes;
}

/// One position of the output over all channels, which are innermost. `taps` has room for those of a window.
template <class T>
void pool_position(const Pool& p, const T* image, int64_t channels, const int64_t (&at)[Pool::kAxes], const T** taps,
                   T* out) {
  const PoolAxis &depth = p.axes[0], &height = p.axes[1], &width = p.axes[2];
  int64_t count = 0;
  depth.each_tap(at[0], [&](int64_t z) {
    height.each_tap(at[1], [&](int64_t y) {
      width.each_tap(at[2],
                     [&](int64_t x) { taps[count++] = image + ((z * height.in + y) * width.in + x) * channels; });
    });
  });
  if (count == 0) {
    std::fill_n(out, channels, neutral<T>(p));
  } else if constexpr (std::is_same_v<T, float>) {
    int64_t divisor = 1;
    for (int k = 0; k < Pool::kAxes && p.average; ++k) divisor *= p.divisors[k][static_cast<size_t>(at[k])];
    if (p.average)
      mean_of_taps(taps, count, static_cast<float>(divisor), out, channels);
    else
      max_of_taps(taps, count, out, channels);
  } else {
    max_of_taps(taps, count, out, channels);
  }
}

template <class T>
void pool_channels_last(const Pool& p, const T* in, T* out, int64_t images, int64_t channels, const Workers& workers,
                        std::byte* scratch) {
  const PoolAxis &depth = p.axes[0], &height = p.axes[1], &width = p.axes[2];
  const int64_t image = depth.in * height.in * width.in * channels, rows = depth.out * height.out;
  constexpr int64_t kGrain = 65536;
  workers.share(images * rows * width.out, std::max<int64_t>(1, kGrain / (channels * p.taps())), scratch,
                [&](int64_t begin, int64_t end, std::byte* own) {
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t row = i / width.out;
                    pool_position(p, in + row / rows * image, channels,
                                  {row % rows / height.out, row % height.out, i % width.out},
                                  reinterpret_cast<const T**>(own), out + i * channels);
                  }
                });
}

/// Takes the innermost axes along which nothing is pooled away from those of the windows; gives how many elements they
/// have, which lie side by side as channels do.
int64_t take_still_axes(Pool& p) {
  int64_t elements = 1;
  for (int left = Pool::kAxes; left > 1; --left) {
    const PoolAxis& last = p.axes[Pool::kAxes - 1];
    if (!last.is_still()) break;
    elements *= last.in;
    std::rotate(std::begin(p.axes), std::end(p.axes) - 1, std::end(p.axes));
    std::rotate(std::begin(p.divisors), std::end(p.divisors) - 1, std::end(p.divisors));
    p.axes[0] = {};
    if (p.average) p.divisors[0] = {1};
  }
  return elements;
}

template <class T>
void set_run(PlannedStep& step, Pool p, int64_t images, int64_t channels, bool channels_last) {
  const int64_t planes = channels_last ? images : images * channels;
  const int64_t together = channels_last ? channels : take_still_axes(p);
  if (together == 1 && PlanePool<T>::takes(p)) {
    const PlanePool<T> by_planes(p);
    const Workers workers{max_threads(), aligned_size(static_cast<size_t>(by_planes.room()) * sizeof(T))};
    step.scratch_bytes = workers.scratch_bytes();
    step.run = [=, p = std::move(p)](const Buffers& b) {
      pool_planes(by_planes, p, b.in<T>(0), b.out<T>(0), planes, workers, b.scratch);
    };
    return;
  }
  const bool by_rows = together == 1 || prefers_rows(p, together);
  const int64_t elements = padded_length(p.axes[2]) * together + folded_length(p, together);
  const size_t bytes = by_rows ? static_cast<size_t>(elements) * sizeof(T) : static_cast<size_t>(p.taps()) * sizeof(T*);
  const Workers workers{max_threads(), aligned_size(bytes)};
  step.scratch_bytes = workers.scratch_bytes();
  step.run = [=, p = std::move(p)](const Buffers& b) {
    (by_rows ? pool<T> : pool_channels_last<T>)(p, b.in<T>(0), b.out<T>(0), planes, together, workers, b.scratch);
  };
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const bool average = site.view.node().op == "AveragePool";
  if (site.view.node().output(1)) return Decline{"indices are asked for"};
  if (x.dtype != DType::kF32 && (average || (x.dtype != DType::kU8 && x.dtype != DType::kI8)))
    return Decline{"not this type"};
  auto p = pool_of(site.view, x.dims, average);
  if (!p) return p.error();
  PlannedStep step{.out = {{x.dtype, pooled(*p, x.dims), x.layout}}};
  const bool last = x.layout == mlopt::Layout::kChannelsLast;
  if (x.dtype == DType::kF32)
    set_run<float>(step, *std::move(p), x.dims[0], x.dims[1], last);
  else if (x.dtype == DType::kU8)
    set_run<uint8_t>(step, *std::move(p), x.dims[0], x.dims[1], last);
  else
    set_run<int8_t>(step, *std::move(p), x.dims[0], x.dims[1], last);
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "MaxPool", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "AveragePool", .plan = plan, .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> pool_kernels() { return kKernels; }

}  // namespace mlopt::cpu
