// Quantization that stays in floats, for training: see core/autodiff/rules/quantize.cc.
#include "backends/cpu/fake_quantize.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/targets.h"
#include "core/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/fake_quantize.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

HWY_INLINE V code(V v, const Codes& codes) {
  const V nearest =
      codes.odd ? hn::MulAdd(hn::Floor(hn::Mul(v, constant(0.5f))), constant(2), constant(1)) : hn::Round(v);
  return hn::Min(hn::Max(nearest, constant(codes.low)), constant(codes.high));
}

void FakeQuantize(const Codes& codes, float step, const float* x, float* y, int64_t count) {
  const V s = constant(step);
  each_vector(0, count, [&](int64_t i, size_t n) HWY_ATTR {
    store_n(hn::Mul(code(hn::Div(load_n(x + i, n), s), codes), s), y + i, n);
  });
}

/// Float sums of this many vectors at most before they go to double.
constexpr int64_t kBlock = 256;

double FakeQuantizeGrad(const Codes& codes, float step, const float* x, const float* dy, float* dx, int64_t count) {
  const F d;
  const float margin = codes.odd ? 1 : 0;
  const V s = constant(step), low = constant(codes.low - margin), high = constant(codes.high + margin);
  const int64_t block = kBlock * static_cast<int64_t>(hn::Lanes(d));
  double total = 0;
  for (int64_t begin = 0; begin < count; begin += block) {
    V sum = constant(0);
    each_vector(begin, std::min(count, begin + block), [&](int64_t i, size_t n) HWY_ATTR {
      const V v = hn::Div(load_n(x + i, n), s), g = load_n(dy + i, n);  // zeros behind the end add nothing
      const auto inside = hn::And(hn::Ge(v, low), hn::Le(v, high));
      sum = hn::MulAdd(g, hn::Sub(code(v, codes), hn::IfThenElseZero(inside, v)), sum);
      store_n(hn::IfThenElseZero(inside, g), dx + i, n);
    });
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
  return total;
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(FakeQuantize);
HWY_EXPORT(FakeQuantizeGrad);

/// How a tensor is cut: runs of neighbours with one step.
struct Runs {
  Codes codes;
  int64_t count = 1, length = 1;  ///< runs; elements of each
  int64_t steps = 1;              ///< run r has step r modulo this
  float share = 1;
};

/// Elements of a part of the work; the sums of parts are added in order, so that threads change nothing.
constexpr int64_t kPart = 16384;

Expected<Runs> runs_of(const Site& site) {
  const TensorDesc &x = site.desc(0), &log = site.desc(1);
  if (x.dtype != DType::kF32 || log.dtype != DType::kF32) return Decline{"not float32"};
  Runs runs{.codes = {static_cast<float>(site.view.get_int("low", 0)), static_cast<float>(site.view.get_int("high", 0)),
                      site.view.get_int("odd", 0) != 0},
            .share = site.view.get_float("share", 1)};
  if (log.dims.empty()) {
    runs.count = (x.size() + kPart - 1) / kPart;
    runs.length = kPart;
    return runs;
  }
  if (x.layout != Layout::kRowMajor) return Decline{"steps along an axis that lies elsewhere"};
  const int64_t axis = site.view.get_int("axis", 0);
  if (axis < 0 || axis >= static_cast<int64_t>(x.dims.size()) || log.dims != Dims{x.dims[static_cast<size_t>(axis)]})
    return Decline{"not a step for each index of the axis"};
  for (size_t k = static_cast<size_t>(axis) + 1; k < x.dims.size(); ++k) runs.length *= x.dims[k];
  runs.steps = log.dims[0];
  runs.count = runs.length ? x.size() / runs.length : 0;
  return runs;
}

/// fn(run, begin, elements) for every run, on all threads.
template <class Fn>
void for_runs(const Runs& runs, int64_t size, const Fn& fn) {
  const int64_t grain = std::max<int64_t>(1, kPart / std::max<int64_t>(1, runs.length));
  parallel_for(runs.count, grain, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      const int64_t begin = r * runs.length;
      fn(r, begin, std::min(runs.length, size - begin));
    }
  });
}

Expected<PlannedStep> plan(const Site& site) {
  const auto runs = runs_of(site);
  if (!runs) return runs.error();
  PlannedStep step{.out = {site.desc(0)}};
  step.in_place = 0;
  step.run = [runs = *runs, size = site.desc(0).size()](const Buffers& buffers) {
    const float* log = buffers.in<float>(1);
    for_runs(runs, size, [&](int64_t r, int64_t begin, int64_t count) {
      HWY_DYNAMIC_DISPATCH(FakeQuantize)
      (runs.codes, std::exp(log[r % runs.steps]), buffers.in<float>(0) + begin, buffers.out<float>(0) + begin, count);
    });
  };
  return step;
}

Expected<PlannedStep> plan_grad(const Site& site) {
  const auto runs = runs_of(site);
  if (!runs) return runs.error();
  const TensorDesc &x = site.desc(0), &dy = site.desc(2);
  if (dy.dtype != x.dtype || dy.dims != x.dims || dy.layout != x.layout) return Decline{"not two float32 of a shape"};
  PlannedStep step{.out = {x, site.desc(1)}};
  step.in_place = 2;
  step.scratch_bytes = static_cast<size_t>(runs->count) * sizeof(double);
  step.run = [runs = *runs, size = x.size()](const Buffers& buffers) {
    const float* log = buffers.in<float>(1);
    auto* sums = reinterpret_cast<double*>(buffers.scratch);
    for_runs(runs, size, [&](int64_t r, int64_t begin, int64_t count) {
      sums[r] = HWY_DYNAMIC_DISPATCH(FakeQuantizeGrad)(runs.codes, std::exp(log[r % runs.steps]),
                                                       buffers.in<float>(0) + begin, buffers.in<float>(2) + begin,
                                                       buffers.out<float>(0) + begin, count);
    });
    for (int64_t s = 0; s < runs.steps; ++s) {
      double sum = 0;
      for (int64_t r = s; r < runs.count; r += runs.steps) sum += sums[r];
      buffers.out<float>(1)[s] =
          static_cast<float>(sum * static_cast<double>(runs.share) / static_cast<double>(std::exp(log[s])));
    }
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "mlopt", .op = "FakeQuantize", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "mlopt", .op = "FakeQuantizeGrad", .plan = plan_grad, .layout = LayoutRule::kFollows}};

}  // namespace

std::span<const Kernel> fake_quantize_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
