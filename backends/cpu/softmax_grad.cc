// Gradients of Softmax and LogSoftmax from what these gave: y (dy - sum of y dy), and dy - exp(y) sum of dy.
#include <algorithm>

#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "backends/cpu/targets.h"
#include "core/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax_grad.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

template <bool kLog>
HWY_INLINE V add_term(V sum, V y, V dy) {
  return kLog ? hn::Add(sum, dy) : hn::MulAdd(y, dy, sum);
}

template <bool kLog>
HWY_INLINE V slope(V y, V dy, V sum) {
  return kLog ? hn::NegMulAdd(exp(y), sum, dy) : hn::Mul(y, hn::Sub(dy, sum));
}

constexpr int64_t kBlock = 4096;  // numbers whose sum is in single precision

template <bool kLog>
HWY_INLINE void grad_row(const float* y, const float* dy, float* dx, int64_t n) {
  double total = 0;
  for (int64_t first = 0; first < n; first += kBlock) {
    V sum = constant(0);
    each_vector(first, std::min(n, first + kBlock), [&](int64_t i, size_t count) HWY_ATTR {
      sum = add_term<kLog>(sum, load_n(y + i, count), load_n(dy + i, count));
    });
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(F(), sum)));
  }
  const V sum = constant(static_cast<float>(total));
  each_vector(0, n, [&](int64_t i, size_t count) HWY_ATTR {
    store_n(slope<kLog>(load_n(y + i, count), load_n(dy + i, count), sum), dx + i, count);
  });
}

/// A vector of columns at a time.
template <bool kLog>
HWY_INLINE void grad_columns(const float* y, const float* dy, float* dx, int64_t length, int64_t inner) {
  each_vector(0, inner, [&](int64_t column, size_t count) HWY_ATTR {
    HWY_ALIGN float lanes[hn::MaxLanes(F())];
    double totals[hn::MaxLanes(F())] = {};
    for (int64_t first = 0; first < length; first += kBlock) {
      V sum = constant(0);
      for (int64_t row = first; row < std::min(length, first + kBlock); ++row) {
        const int64_t i = row * inner + column;
        sum = add_term<kLog>(sum, load_n(y + i, count), load_n(dy + i, count));
      }
      hn::Store(sum, F(), lanes);
      for (size_t k = 0; k < count; ++k) totals[k] += static_cast<double>(lanes[k]);
    }
    for (size_t k = 0; k < count; ++k) lanes[k] = static_cast<float>(totals[k]);
    const V sum = hn::Load(F(), lanes);
    for (int64_t i = column; i < length * inner; i += inner)
      store_n(slope<kLog>(load_n(y + i, count), load_n(dy + i, count), sum), dx + i, count);
  });
}

void GradRow(bool log, const float* y, const float* dy, float* dx, int64_t n) {
  log ? grad_row<true>(y, dy, dx, n) : grad_row<false>(y, dy, dx, n);
}

void GradColumns(bool log, const float* y, const float* dy, float* dx, int64_t length, int64_t inner) {
  log ? grad_columns<true>(y, dy, dx, length, inner) : grad_columns<false>(y, dy, dx, length, inner);
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(GradRow);
HWY_EXPORT(GradColumns);

Expected<PlannedStep> plan(const Site& site) {
  constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings
  const TensorDesc &y = site.desc(0), &dy = site.desc(1);
  if (y.dtype != DType::kF32 || dy.dtype != DType::kF32 || y.dims != dy.dims || y.dims.empty())
    return Decline{"not two float32 arrays of a shape"};
  const auto rank = static_cast<int64_t>(y.dims.size());
  const Middle m = around(y.dims, static_cast<size_t>(normalize_axis(site.view.get_int("axis", -1), rank)));
  PlannedStep step{.out = {dy}};
  step.in_place = 1;
  step.run = [m, log = site.view.node().op == "LogSoftmaxGrad"](const Buffers& b) {
    const int64_t block = m.length * m.inner;
    const float *made = b.in<float>(0), *grad = b.in<float>(1);
    parallel_for(m.outer, std::max<int64_t>(1, kGrain / block), [&](int64_t begin, int64_t end) {
      for (int64_t at = begin * block; at < end * block; at += block)
        if (m.inner == 1)
          HWY_DYNAMIC_DISPATCH(GradRow)(log, made + at, grad + at, b.out<float>(0) + at, m.length);
        else
          HWY_DYNAMIC_DISPATCH(GradColumns)(log, made + at, grad + at, b.out<float>(0) + at, m.length, m.inner);
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "mlopt", .op = "LogSoftmaxGrad", .plan = plan},
    {.domain = "mlopt", .op = "SoftmaxGrad", .plan = plan},
};

}  // namespace

std::span<const Kernel> softmax_grad_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
