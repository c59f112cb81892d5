// The gradients of MaxPool and AveragePool: what a window gave goes to its largest element, the first of them, or in
// equal shares to all.
#include "backends/cpu/kernels.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/targets.h"
#include "core/base/parallel.h"
#include "core/ir/pool_shape.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool_grad.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// The window whose pixels, of n numbers each, begin at taps[0, count) of x: NaN is larger than all numbers.
void MaxWindow(const int64_t* taps, int64_t count, const float* x, const float* dy, float* dx, int64_t n) {
  each_vector(0, n, [&](int64_t i, size_t lanes) HWY_ATTR {
    V most = load_n(x + taps[0] + i, lanes), best = constant(0);
    for (int64_t k = 1; k < count; ++k) {
      const V v = load_n(x + taps[k] + i, lanes);
      const auto takes = hn::Or(hn::Gt(v, most), hn::AndNot(hn::IsNaN(most), hn::IsNaN(v)));
      most = hn::IfThenElse(takes, v, most);
      best = hn::IfThenElse(takes, constant(static_cast<float>(k)), best);
    }
    const V grad = load_n(dy + i, lanes);
    for (int64_t k = 0; k < count; ++k) {
      float* to = dx + taps[k] + i;
      const V share = hn::IfThenElseZero(hn::Eq(best, constant(static_cast<float>(k))), grad);
      store_n(hn::Add(load_n(to, lanes), share), to, lanes);
    }
  });
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(MaxWindow);

void max_window(const int64_t* taps, int64_t count, const float* x, const float* dy, float* dx, int64_t n) {
  if (n > 1) return HWY_DYNAMIC_DISPATCH(MaxWindow)(taps, count, x, dy, dx, n);
  int64_t best = taps[0];
  for (int64_t k = 1; k < count; ++k) {
    const float v = x[taps[k]], most = x[best];
    if (v > most || (v != v && most == most)) best = taps[k];
  }
  dx[best] += *dy;
}

void average_window(const int64_t* taps, int64_t count, float divisor, const float* dy, float* dx, int64_t n) {
  for (int64_t k = 0; k < count; ++k)
    if (n > 1)
      add_scaled(dx + taps[k], dy, n, 1 / divisor);
    else
      dx[taps[k]] += *dy / divisor;
}

/// Fills `taps` with what lies under the window at (d, h, w); gives their count.
int64_t taps_at(const Pool& p, int64_t d, int64_t h, int64_t w, int64_t channels, int64_t* taps) {
  int64_t count = 0;
  p.axes[0].each_tap(d, [&](int64_t z) {
    p.axes[1].each_tap(h, [&](int64_t y) {
      p.axes[2].each_tap(w, [&](int64_t x) { taps[count++] = ((z * p.axes[1].in + y) * p.axes[2].in + x) * channels; });
    });
  });
  return count;
}

/// One plane, whose pixels have so many channels side by side.
void plane(const Pool& p, int64_t channels, const float* x, const float* dy, float* dx, int64_t* taps) {
  std::fill_n(dx, p.axes[0].in * p.axes[1].in * p.axes[2].in * channels, 0.0f);
  for (int64_t d = 0; d < p.axes[0].out; ++d)
    for (int64_t h = 0; h < p.axes[1].out; ++h)
      for (int64_t w = 0; w < p.axes[2].out; ++w, dy += channels) {
        const int64_t count = taps_at(p, d, h, w, channels, taps);
        if (count == 0) continue;
        if (!p.average) {
          max_window(taps, count, x, dy, dx, channels);
          continue;
        }
        const int64_t divisor = p.divisors[0][static_cast<size_t>(d)] * p.divisors[1][static_cast<size_t>(h)] *
                                p.divisors[2][static_cast<size_t>(w)];
        average_window(taps, count, static_cast<float>(divisor), dy, dx, channels);
      }
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &x = site.desc(0), &dy = site.desc(1);
  if (x.dtype != DType::kF32 || dy.dtype != DType::kF32) return Decline{"not float32"};
  auto pool = pool_of(site.view, x.dims, site.view.node().op == "AveragePoolGrad");
  if (!pool) return pool.error();
  if (dy.dims != pooled(*pool, x.dims)) return Decline{"dy does not fit x and the window"};
  const bool last = x.layout == mlopt::Layout::kChannelsLast;
  const int64_t planes = x.dims[0] * (last ? 1 : x.dims[1]), channels = last ? x.dims[1] : 1;
  const int64_t workers = std::min<int64_t>(max_threads(), planes), most = pool->taps();
  PlannedStep step{.out = {x}};
  step.scratch_bytes = static_cast<size_t>(workers * most) * sizeof(int64_t);
  step.run = [=, p = *std::move(pool), in = x.size() / planes, out = dy.size() / planes](const Buffers& b) {
    auto* taps = reinterpret_cast<int64_t*>(b.scratch);
    take_turns(workers, planes, [&](int64_t worker, int64_t i) {
      plane(p, channels, b.in<float>(0) + i * in, b.in<float>(1) + i * out, b.out<float>(0) + i * in,
            taps + worker * most);
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "mlopt", .op = "MaxPoolGrad", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "mlopt", .op = "AveragePoolGrad", .plan = plan, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> pool_grad_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
