#include "backends/cpu/pool_taps.h"

#include <algorithm>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool_taps.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// out = last(step(step(taps[0], taps[1]), taps[2]) ...).
template <class T, class Step, class Last>
HWY_INLINE void reduce(const T* const* taps, int64_t count, T* out, int64_t n, const Step& step, const Last& last) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto at = [&](int64_t i) HWY_ATTR {
    auto sum = hn::LoadU(d, taps[0] + i);
    for (int64_t k = 1; k < count; ++k) sum = step(sum, hn::LoadU(d, taps[k] + i));
    return last(sum);
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(at(i), d, out + i);
  if (i == n) return;
  if (n >= lanes) return hn::StoreU(at(n - lanes), d, out + n - lanes);
  HWY_ALIGN T sum[hn::MaxLanes(d)] = {}, tap[hn::MaxLanes(d)] = {};
  std::copy_n(taps[0], n, sum);
  for (int64_t k = 1; k < count; ++k) {
    std::copy_n(taps[k], n, tap);
    hn::Store(step(hn::Load(d, sum), hn::Load(d, tap)), d, sum);
  }
  hn::Store(last(hn::Load(d, sum)), d, sum);
  std::copy_n(sum, n, out);
}

template <class T>
HWY_INLINE void max_of_numbers(const T* const* taps, int64_t count, T* out, int64_t n) {
  reduce(
      taps, count, out, n, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); },
      [](auto sum) HWY_ATTR { return sum; });
}

void MaxF32(const float* const* taps, int64_t count, float* out, int64_t n) {
  reduce(
      taps, count, out, n, [](V a, V b) HWY_ATTR { return larger(a, b); }, [](V sum) HWY_ATTR { return sum; });
}

void MeanF32(const float* const* taps, int64_t count, float divisor, float* out, int64_t n) {
  const V by = constant(divisor);
  reduce(
      taps, count, out, n, [](V a, V b) HWY_ATTR { return hn::Add(a, b); },
      [=](V sum) HWY_ATTR { return hn::Div(sum, by); });
}

void MaxU8(const uint8_t* const* taps, int64_t count, uint8_t* out, int64_t n) { max_of_numbers(taps, count, out, n); }
void MaxI8(const int8_t* const* taps, int64_t count, int8_t* out, int64_t n) { max_of_numbers(taps, count, out, n); }

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(MaxF32);
HWY_EXPORT(MeanF32);
HWY_EXPORT(MaxU8);
HWY_EXPORT(MaxI8);

void max_of_taps(const float* const* taps, int64_t count, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(MaxF32)(taps, count, out, n);
}

void max_of_taps(const uint8_t* const* taps, int64_t count, uint8_t* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(MaxU8)(taps, count, out, n);
}

void max_of_taps(const int8_t* const* taps, int64_t count, int8_t* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(MaxI8)(taps, count, out, n);
}

void mean_of_taps(const float* const* taps, int64_t count, float divisor, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(MeanF32)(taps, count, divisor, out, n);
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
