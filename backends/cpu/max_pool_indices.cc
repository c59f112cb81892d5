// MaxPool of float32 with the places of the maxima. Of a row of positions, the windows that lie within the width are
// folded as vectors, tap by tap; those that reach over its ends one by one.
#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/targets.h"
#include "core/base/parallel.h"
#include "core/ir/pool_shape.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/max_pool_indices.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Indices = hn::CappedTag<int64_t, 4>;    // wider vectors would leave out shorter rows
using Pairs = hn::Rebind<uint64_t, Indices>;  // two numbers side by side in each lane
using Numbers = hn::Rebind<float, Indices>;
using Places = hn::Rebind<int32_t, Indices>;
using Numeral = hn::Vec<Numbers>;

/// The maximum of the taps so far, and which of them it is, as its place under the first window.
struct Best {
  Numeral most;
  hn::Vec<Places> place;

  /// The first of equals stays, and so does a NaN.
  HWY_INLINE void take(Numeral v, int64_t at) {
    const auto takes = hn::Or(hn::Gt(v, most), hn::AndNot(hn::IsNaN(most), hn::IsNaN(v)));
    most = hn::IfThenElse(takes, v, most);
    place = hn::IfThenElse(hn::RebindMask(Places(), takes), hn::Set(Places(), static_cast<int32_t>(at)), place);
  }
};

/// Stores what fold(i, steps, best) makes of the lanes' positions from i on, `steps` their distances from the first in
/// the input. False, having done nothing, when there are fewer positions than lanes.
template <class Fold>
HWY_INLINE bool fold_row(int64_t first, int64_t stride, int64_t n, int64_t base, float* y, int64_t* index,
                         const Fold& fold) {
  const Indices indices;
  const Places places;
  const Numbers numbers;
  const auto lanes = static_cast<int64_t>(hn::Lanes(indices));
  if (n < lanes) return false;
  const auto steps = hn::Mul(hn::Iota(places, 0), hn::Set(places, static_cast<int32_t>(stride)));
  for (int64_t next = 0; next < n; next += lanes) {
    const int64_t i = std::min(next, n - lanes);  // the last ones overlap those before: no vector is partial
    Best best{hn::Set(numbers, -std::numeric_limits<float>::infinity()), hn::Set(places, static_cast<int32_t>(first))};
    fold(i, steps, best);
    hn::StoreU(best.most, numbers, y + i);
    const auto from_base = hn::PromoteTo(indices, hn::Add(best.place, steps));
    hn::StoreU(hn::Add(from_base, hn::Set(indices, base + i * stride)), indices, index + i);
  }
  return true;
}

/// Window i has its taps at x[taps[k] + i * stride]; the index of x[0] is `base`.
bool MaxRow(std::span<const int64_t> taps, const float* x, int64_t stride, int64_t n, int64_t base, float* y,
            int64_t* index) {
  const Numbers d;
  return fold_row(taps[0], stride, n, base, y, index, [&](int64_t i, auto steps, Best& best) HWY_ATTR {
    const float* from = x + i * stride;
    for (const int64_t tap : taps)
      best.take(stride == 1 ? hn::LoadU(d, from + tap) : hn::GatherIndex(d, from + tap, steps), tap);
  });
}

/// The same with two taps at taps[k] and behind it, and stride 2: no number is loaded twice.
bool MaxPairs(std::span<const int64_t> taps, const float* x, int64_t n, int64_t base, float* y, int64_t* index) {
  const Pairs d;
  const hn::Rebind<uint32_t, Pairs> words;
  return fold_row(taps[0], 2, n, base, y, index, [&](int64_t i, auto, Best& best) HWY_ATTR {
    for (const int64_t tap : taps) {
      const auto pairs = hn::LoadU(d, reinterpret_cast<const uint64_t*>(x + tap + 2 * i));
      best.take(hn::BitCast(Numbers(), hn::TruncateTo(words, pairs)), tap);
      best.take(hn::BitCast(Numbers(), hn::TruncateTo(words, hn::ShiftRight<32>(pairs))), tap + 1);
    }
  });
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(MaxRow);
HWY_EXPORT(MaxPairs);

struct Windows {
  Pool pool;
  bool by_columns;     ///< indices count the first spatial axis fastest
  int64_t begin, end;  ///< along a row, the windows that lie within the width
  bool pairs;          ///< two taps side by side and as long a stride
};

Windows windows_of(Pool pool, bool by_columns) {
  const PoolAxis& width = pool.axes[2];
  const int64_t begin = std::min(width.out, (width.begin + width.stride - 1) / width.stride);
  const int64_t room = width.in + width.begin - (width.kernel - 1) * width.dilation - 1;
  const int64_t end = room < 0 ? begin : std::max(begin, std::min(width.out, room / width.stride + 1));
  const bool pairs = width.kernel == 2 && width.stride == 2 && width.dilation == 1;
  return {std::move(pool), by_columns, begin, end, pairs};
}

/// What one thread works in: where in a plane the rows under a row of windows begin, and all taps of a window.
struct Room {
  std::vector<int64_t> rows, taps;
};

/// Those windows that lie within the width; false, having done nothing, where vectors do not serve.
bool inner_windows(const Windows& w, const float* plane, int64_t base, Room& room, float* y, int64_t* index) {
  const PoolAxis& width = w.pool.axes[2];
  if (room.rows.empty() || w.begin == w.end) return false;
  const int64_t first = w.begin * width.stride - width.begin, n = w.end - w.begin;
  plane += first, base += first, y += w.begin, index += w.begin;
  if (w.pairs) return HWY_DYNAMIC_DISPATCH(MaxPairs)(room.rows, plane, n, base, y, index);
  room.taps.clear();
  for (const int64_t row : room.rows)
    for (int64_t k = 0; k < width.kernel; ++k) room.taps.push_back(row + k * width.dilation);
  return HWY_DYNAMIC_DISPATCH(MaxRow)(room.taps, plane, width.stride, n, base, y, index);
}

void one_window(const PoolAxis& width, const float* plane, int64_t base, const Room& room, int64_t o, float* y,
                int64_t* index) {
  float most = -std::numeric_limits<float>::infinity();
  int64_t best = -1;
  for (const int64_t row : room.rows)
    width.each_tap(o, [&](int64_t i) {
      const float v = plane[row + i];
      if (best >= 0 && !(v > most) && !(v != v && most == most)) return;
      most = v;
      best = row + i;
    });
  y[o] = most;
  index[o] = base + best;
}

/// The place that a row-major one within a plane has where the first axis is the fastest.
int64_t column_major(const Pool& p, int64_t place) {
  const int64_t depth = p.axes[0].in, height = p.axes[1].in, width = p.axes[2].in;
  return (place % width * height + place / width % height) * depth + place / (width * height);
}

/// One row of the output: positions (d, h, all w) of the plane whose indices begin at `base`.
void pool_row(const Windows& w, const float* plane, int64_t base, int64_t d, int64_t h, Room& room, float* y,
              int64_t* index) {
  const PoolAxis &depth = w.pool.axes[0], &height = w.pool.axes[1], &width = w.pool.axes[2];
  room.rows.clear();
  depth.each_tap(d, [&](int64_t z) {
    height.each_tap(h, [&](int64_t row) { room.rows.push_back((z * height.in + row) * width.in); });
  });
  const bool done = inner_windows(w, plane, base, room, y, index);
  for (int64_t o = 0; o < (done ? w.begin : width.out); ++o) one_window(width, plane, base, room, o, y, index);
  for (int64_t o = done ? w.end : width.out; o < width.out; ++o) one_window(width, plane, base, room, o, y, index);
  for (int64_t o = 0; w.by_columns && o < width.out; ++o)
    if (index[o] >= base) index[o] = base + column_major(w.pool, index[o] - base);  // else nothing is under the window
}

void pool(const Windows& w, int64_t planes, const float* x, float* y, int64_t* index) {
  const PoolAxis &depth = w.pool.axes[0], &height = w.pool.axes[1], &width = w.pool.axes[2];
  constexpr int64_t kGrain = 16384;  // taps below which a second thread costs more than it brings
  const int64_t rows = depth.out * height.out, plane = depth.in * height.in * width.in;
  const int64_t work = std::max<int64_t>(1, width.out * w.pool.taps());
  parallel_for(planes * rows, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
    Room room;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t base = i / rows * plane, out = i * width.out;
      pool_row(w, x + base, base, i % rows / height.out, i % height.out, room, y + out, index + out);
    }
  });
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (!site.view.node().output(1)) return Decline{"no indices are asked for"};
  if (x.dtype != DType::kF32) return Decline{"not float32"};
  auto p = pool_of(site.view, x.dims, false);
  if (!p) return p.error();
  if (p->axes[0].in * p->axes[1].in * p->axes[2].in > std::numeric_limits<int32_t>::max())
    return Decline{"more pixels than places count"};
  const Dims dims = pooled(*p, x.dims);
  PlannedStep step{.out = {{DType::kF32, dims}, {DType::kI64, dims}}};
  const Windows w = windows_of(*std::move(p), site.view.get_int("storage_order", 0) != 0);
  step.run = [w, planes = x.dims[0] * x.dims[1]](const Buffers& b) {
    pool(w, planes, b.in<float>(0), b.out<float>(0), b.out<int64_t>(1));
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "MaxPool", .plan = plan}};

}  // namespace

std::span<const Kernel> max_pool_indices_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
