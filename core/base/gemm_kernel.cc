#include "core/base/gemm_kernel.h"

// Arrays of vectors need a size known to the compiler, which scalable vectors do not have.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/base/gemm_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mlopt::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Vector = hn::Vec<hn::ScalableTag<T>>;

// Two vectors wide; as tall as the registers allow: 2 x rows accumulators, two of b, one of a.
constexpr int kRows = HWY_MAX_BYTES >= 64 ? 12 : 6;

template <class T>
HWY_ATTR void store(const Vector<T>& v, T* c, bool add) {
  const hn::ScalableTag<T> d;
  hn::StoreU(add ? hn::Add(v, hn::LoadU(d, c)) : v, d, c);
}

template <class T>
HWY_ATTR void tile(int64_t k, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, T* c, int64_t ldc, bool add) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  Vector<T> left[kRows], right[kRows];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) left[i] = right[i] = hn::Zero(d);
  for (int64_t p = 0; p < k; ++p, a += kRows, b += 2 * lanes) {
    const auto b0 = hn::Load(d, b), b1 = hn::Load(d, b + lanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const auto ai = hn::Set(d, a[i]);
      left[i] = hn::MulAdd(ai, b0, left[i]);
      right[i] = hn::MulAdd(ai, b1, right[i]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    store<T>(left[i], c + i * ldc, add);
    store<T>(right[i], c + i * ldc + lanes, add);
  }
}

template <class T>
HWY_ATTR void axpy(int64_t n, T factor, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto f = hn::Set(d, factor);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::MulAdd(f, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  for (; i < n; ++i) y[i] += factor * x[i];
}

template <class T>
HWY_ATTR T dot(int64_t n, const T* HWY_RESTRICT x, const T* HWY_RESTRICT y) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  // Four sums hide the latency of the addition.
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes), s1);
    s2 = hn::MulAdd(hn::LoadU(d, x + i + 2 * lanes), hn::LoadU(d, y + i + 2 * lanes), s2);
    s3 = hn::MulAdd(hn::LoadU(d, x + i + 3 * lanes), hn::LoadU(d, y + i + 3 * lanes), s3);
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

template <class T>
GemmKernel<T> kernel() {
  return {kRows, static_cast<int>(2 * hn::Lanes(hn::ScalableTag<T>())), &tile<T>, &axpy<T>, &dot<T>};
}

GemmKernel<float> float_kernel() { return kernel<float>(); }
GemmKernel<double> double_kernel() { return kernel<double>(); }

}  // namespace
}  // namespace mlopt::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt {

HWY_EXPORT(float_kernel);
HWY_EXPORT(double_kernel);

template <>
GemmKernel<float> gemm_kernel<float>() {
  return HWY_DYNAMIC_DISPATCH(float_kernel)();
}
template <>
GemmKernel<double> gemm_kernel<double>() {
  return HWY_DYNAMIC_DISPATCH(double_kernel)();
}

}  // namespace mlopt
#endif
