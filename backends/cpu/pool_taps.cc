#include "backends/cpu/pool_taps.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool_taps.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// out = last(step(step(start(taps[0]), taps[1]), taps[2]) ...), four vectors at a time.
template <class T, class Start, class Step, class Last>
HWY_INLINE void reduce(const T* const* taps, int64_t count, T* out, int64_t n, const Start& start, const Step& step,
                       const Last& last) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto at = [&](int64_t i) HWY_ATTR {
    auto sum = start(hn::LoadU(d, taps[0] + i));
    for (int64_t k = 1; k < count; ++k) sum = step(sum, hn::LoadU(d, taps[k] + i));
    return last(sum);
  };
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const T* tap = taps[0] + i;
    auto a = start(hn::LoadU(d, tap)), b = start(hn::LoadU(d, tap + lanes));
    auto c = start(hn::LoadU(d, tap + 2 * lanes)), e = start(hn::LoadU(d, tap + 3 * lanes));
    for (int64_t k = 1; k < count; ++k) {
      tap = taps[k] + i;
      a = step(a, hn::LoadU(d, tap));
      b = step(b, hn::LoadU(d, tap + lanes));
      c = step(c, hn::LoadU(d, tap + 2 * lanes));
      e = step(e, hn::LoadU(d, tap + 3 * lanes));
    }
    hn::StoreU(last(a), d, out + i);
    hn::StoreU(last(b), d, out + i + lanes);
    hn::StoreU(last(c), d, out + i + 2 * lanes);
    hn::StoreU(last(e), d, out + i + 3 * lanes);
  }
  for (; i + lanes <= n; i += lanes) hn::StoreU(at(i), d, out + i);
  if (i == n) return;
  if (n >= lanes) return hn::StoreU(at(n - lanes), d, out + n - lanes);
  HWY_ALIGN T tap[hn::MaxLanes(d)] = {};
  std::copy_n(taps[0], n, tap);
  auto sum = start(hn::Load(d, tap));
  for (int64_t k = 1; k < count; ++k) {
    std::copy_n(taps[k], n, tap);
    sum = step(sum, hn::Load(d, tap));
  }
  hn::Store(last(sum), d, tap);
  std::copy_n(tap, n, out);
}

template <class T>
HWY_INLINE void max_of_numbers(const T* const* taps, int64_t count, T* out, int64_t n) {
  const auto same = [](auto x) HWY_ATTR { return x; };
  reduce(
      taps, count, out, n, same, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); }, same);
}

/// The largest of numbers that are some, and where one is none.
struct Largest {
  V number;
  hn::Mask<F> none;
};

void MaxF32(const float* const* taps, int64_t count, float* out, int64_t n) {
  reduce(
      taps, count, out, n,
      [](V x) HWY_ATTR {
        return Largest{x, hn::IsNaN(x)};
      },
      [](const Largest& a, V x) HWY_ATTR {
        return Largest{hn::Max(a.number, x), hn::Or(a.none, hn::IsNaN(x))};
      },
      [](const Largest& a)
          HWY_ATTR { return hn::IfThenElse(a.none, constant(std::numeric_limits<float>::quiet_NaN()), a.number); });
}

void SumF32(const float* const* taps, int64_t count, float* out, int64_t n) {
  const auto same = [](V x) HWY_ATTR { return x; };
  reduce(
      taps, count, out, n, same, [](V a, V b) HWY_ATTR { return hn::Add(a, b); }, same);
}

void MeanF32(const float* const* taps, int64_t count, float divisor, float* out, int64_t n) {
  const V by = constant(divisor);
  reduce(
      taps, count, out, n, [](V x) HWY_ATTR { return x; }, [](V a, V b) HWY_ATTR { return hn::Add(a, b); },
      [=](V sum) HWY_ATTR { return hn::Div(sum, by); });
}

void WeightedF32(const float* const* taps, const float* weights, int64_t count, float* out, int64_t n) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    V a = hn::Zero(d), b = a, c = a, e = a;
    for (int64_t k = 0; k < count; ++k) {
      const V weight = constant(weights[k]);
      const float* tap = taps[k] + i;
      a = hn::MulAdd(weight, hn::LoadU(d, tap), a);
      b = hn::MulAdd(weight, hn::LoadU(d, tap + lanes), b);
      c = hn::MulAdd(weight, hn::LoadU(d, tap + 2 * lanes), c);
      e = hn::MulAdd(weight, hn::LoadU(d, tap + 3 * lanes), e);
    }
    hn::StoreU(a, d, out + i);
    hn::StoreU(b, d, out + i + lanes);
    hn::StoreU(c, d, out + i + 2 * lanes);
    hn::StoreU(e, d, out + i + 3 * lanes);
  }
  each_vector(i, n, [&](int64_t at, size_t size) HWY_ATTR {
    V sum = hn::Zero(d);
    for (int64_t k = 0; k < count; ++k) sum = hn::MulAdd(constant(weights[k]), load_n(taps[k] + at, size), sum);
    store_n(sum, out + at, size);
  });
}

void MaxU8(const uint8_t* const* taps, int64_t count, uint8_t* out, int64_t n) { max_of_numbers(taps, count, out, n); }
void MaxI8(const int8_t* const* taps, int64_t count, int8_t* out, int64_t n) { max_of_numbers(taps, count, out, n); }

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(MaxF32);
HWY_EXPORT(SumF32);
HWY_EXPORT(MeanF32);
HWY_EXPORT(WeightedF32);
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

void sum_of_taps(const float* const* taps, int64_t count, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(SumF32)(taps, count, out, n);
}

void mean_of_taps(const float* const* taps, int64_t count, float divisor, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(MeanF32)(taps, count, divisor, out, n);
}

void weighted_taps(const float* const* taps, const float* weights, int64_t count, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(WeightedF32)(taps, weights, count, out, n);
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
