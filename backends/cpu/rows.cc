#include "backends/cpu/rows.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/rows.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// fn(step) with step(accumulator, element), both vectors.
template <class Fn>
HWY_INLINE void with_step(Fold op, const Fn& fn) {
  switch (op) {
    case Fold::kSum:
      return fn([](V a, V x) HWY_ATTR { return hn::Add(a, x); });
    case Fold::kSumAbs:
      return fn([](V a, V x) HWY_ATTR { return hn::Add(a, hn::Abs(x)); });
    case Fold::kSumSquare:
      return fn([](V a, V x) HWY_ATTR { return hn::MulAdd(x, x, a); });
    case Fold::kProduct:
      return fn([](V a, V x) HWY_ATTR { return hn::Mul(a, x); });
    case Fold::kMax:
      return fn([](V a, V x) HWY_ATTR { return larger(a, x); });
    case Fold::kMin:
      return fn([](V a, V x) HWY_ATTR { return smaller(a, x); });
  }
}

void FoldRows(Fold op, float* acc, const float* x, int64_t n) {
  with_step(op, [&](const auto& step) HWY_ATTR {
    const F d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(step(hn::LoadU(d, acc + i), hn::LoadU(d, x + i)), d, acc + i);
    if (i == n) return;
    HWY_ALIGN float a[hn::MaxLanes(d)] = {}, b[hn::MaxLanes(d)] = {};
    std::copy(acc + i, acc + n, a);
    std::copy(x + i, x + n, b);
    hn::Store(step(hn::Load(d, a), hn::Load(d, b)), d, a);
    std::copy_n(a, n - i, acc + i);
  });
}

/// The row folded into one vector by step(accumulator, element): `start` is what an absent element counts as, join()
/// puts accumulators together.
template <class Step, class Join>
HWY_INLINE V fold_vector(const float* x, int64_t n, float start, float absent, const Step& step, const Join& join) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V a0 = constant(start), a1 = a0, a2 = a0, a3 = a0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a0 = step(a0, hn::LoadU(d, x + i));
    a1 = step(a1, hn::LoadU(d, x + i + lanes));
    a2 = step(a2, hn::LoadU(d, x + i + 2 * lanes));
    a3 = step(a3, hn::LoadU(d, x + i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) a0 = step(a0, hn::LoadU(d, x + i));
  if (i < n) {
    const auto given = hn::FirstN(d, static_cast<size_t>(n - i));
    a1 = step(a1, hn::IfThenElse(given, load_n(x + i, static_cast<size_t>(n - i)), constant(absent)));
  }
  return join(join(a0, a1), join(a2, a3));
}

float FoldBlock(Fold op, const float* x, int64_t n, float start) {
  const F d;
  const bool sums = is_sum(op);
  V all = constant(start);
  with_step(op, [&](const auto& step) HWY_ATTR {
    all = fold_vector(x, n, start, start, step, [&](V a, V b) HWY_ATTR { return sums ? hn::Add(a, b) : step(a, b); });
  });
  if (sums) return hn::GetLane(hn::SumOfLanes(d, all));
  if (op == Fold::kProduct) {
    HWY_ALIGN float lanes[hn::MaxLanes(d)];
    hn::Store(all, d, lanes);
    return std::accumulate(lanes, lanes + hn::Lanes(d), 1.0f, std::multiplies<>());
  }
  if (!hn::AllFalse(d, hn::IsNaN(all))) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(op == Fold::kMax ? hn::MaxOfLanes(d, all) : hn::MinOfLanes(d, all));
}

float SumDeviation(const float* x, int64_t n, float mean) {
  const auto step = [=](V a, V v) HWY_ATTR {
    const V from_mean = hn::Sub(v, constant(mean));
    return hn::MulAdd(from_mean, from_mean, a);
  };
  const V sum = fold_vector(x, n, 0, mean, step, [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
  return hn::GetLane(hn::SumOfLanes(F(), sum));
}

void NormalizeRow(const float* x, float* out, int64_t n, float mean, float factor, const float* scale,
                  const float* bias) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V m = constant(mean), f = constant(factor);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V y = hn::Mul(hn::Sub(hn::LoadU(d, x + i), m), f);
    if (scale) y = hn::Mul(y, hn::LoadU(d, scale + i));
    if (bias) y = hn::Add(y, hn::LoadU(d, bias + i));
    hn::StoreU(y, d, out + i);
  }
  for (; i < n; ++i) out[i] = (x[i] - mean) * factor * (scale ? scale[i] : 1) + (bias ? bias[i] : 0);
}

template <class T>
HWY_INLINE void fold_max(T* acc, const T* x, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Max(hn::LoadU(d, acc + i), hn::LoadU(d, x + i)), d, acc + i);
  for (; i < n; ++i) acc[i] = std::max(acc[i], x[i]);
}
void FoldMaxU8(uint8_t* acc, const uint8_t* x, int64_t n) { fold_max(acc, x, n); }
void FoldMaxI8(int8_t* acc, const int8_t* x, int64_t n) { fold_max(acc, x, n); }

void Affine(const float* x, float* out, int64_t n, float a, float b) {
  map(x, out, n, [=](V v) HWY_ATTR { return hn::MulAdd(v, constant(a), constant(b)); });
}

void CentredAffine(const float* x, float* out, int64_t n, float mean, float a, float b) {
  map(x, out, n, [=](V v) HWY_ATTR { return hn::MulAdd(hn::Sub(v, constant(mean)), constant(a), constant(b)); });
}

void CentredAffineEach(const float* x, float* out, int64_t n, const float* mean, const float* a, const float* b) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V distance = hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, mean + i));
    hn::StoreU(hn::MulAdd(distance, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  }
  for (; i < n; ++i) out[i] = (x[i] - mean[i]) * a[i] + b[i];
}

void AddScaled(float* acc, const float* x, int64_t n, float a) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::MulAdd(hn::LoadU(d, x + i), constant(a), hn::LoadU(d, acc + i)), d, acc + i);
  for (; i < n; ++i) acc[i] += a * x[i];
}

void AddSquaredDistance(float* acc, const float* x, const float* mean, int64_t n) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V distance = hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, mean + i));
    hn::StoreU(hn::MulAdd(distance, distance, hn::LoadU(d, acc + i)), d, acc + i);
  }
  for (; i < n; ++i) acc[i] += (x[i] - mean[i]) * (x[i] - mean[i]);
}

void AddExpDistance(float* acc, const float* x, const float* shift, int64_t n) {
  each_vector(0, n, [&](int64_t i, size_t count) HWY_ATTR {
    const V e = exp_of_negative(hn::Sub(load_n(x + i, count), load_n(shift + i, count)));
    store_n(hn::Add(load_n(acc + i, count), e), acc + i, count);
  });
}

float ExpRow(const float* x, float* out, int64_t n, float shift) { return exp_row(x, out, n, shift); }

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(FoldRows);
HWY_EXPORT(FoldBlock);
HWY_EXPORT(FoldMaxU8);
HWY_EXPORT(FoldMaxI8);
HWY_EXPORT(SumDeviation);
HWY_EXPORT(NormalizeRow);
HWY_EXPORT(Affine);
HWY_EXPORT(CentredAffine);
HWY_EXPORT(CentredAffineEach);
HWY_EXPORT(AddScaled);
HWY_EXPORT(AddSquaredDistance);
HWY_EXPORT(AddExpDistance);
HWY_EXPORT(ExpRow);

float identity(Fold op) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return op == Fold::kMax ? -kInfinity : op == Fold::kMin ? kInfinity : op == Fold::kProduct ? 1.0f : 0.0f;
}

void fold(Fold op, float* acc, const float* x, int64_t count) { HWY_DYNAMIC_DISPATCH(FoldRows)(op, acc, x, count); }

float fold_row(Fold op, const float* x, int64_t count) {
  constexpr int64_t kBlock = 4096;
  double total = identity(op);
  for (int64_t i = 0; i < count; i += kBlock) {
    const double part = HWY_DYNAMIC_DISPATCH(FoldBlock)(op, x + i, std::min(kBlock, count - i), identity(op));
    if (is_sum(op))
      total += part;
    else if (op == Fold::kProduct)
      total *= part;
    else if (part != part || (op == Fold::kMax ? part > total : part < total))
      total = part;
  }
  return static_cast<float>(total);
}

void fold_max(uint8_t* acc, const uint8_t* x, int64_t count) { HWY_DYNAMIC_DISPATCH(FoldMaxU8)(acc, x, count); }
void fold_max(int8_t* acc, const int8_t* x, int64_t count) { HWY_DYNAMIC_DISPATCH(FoldMaxI8)(acc, x, count); }

float sum_deviation(const float* x, int64_t count, float mean) {
  constexpr int64_t kBlock = 4096;
  double total = 0;
  for (int64_t i = 0; i < count; i += kBlock)
    total += HWY_DYNAMIC_DISPATCH(SumDeviation)(x + i, std::min(kBlock, count - i), mean);
  return static_cast<float>(total);
}

void normalize_row(const float* x, float* out, int64_t count, float mean, float factor, const float* scale,
                   const float* bias) {
  HWY_DYNAMIC_DISPATCH(NormalizeRow)(x, out, count, mean, factor, scale, bias);
}

void affine(const float* x, float* out, int64_t count, float a, float b) {
  HWY_DYNAMIC_DISPATCH(Affine)(x, out, count, a, b);
}

void centred_affine(const float* x, float* out, int64_t count, float mean, float a, float b) {
  HWY_DYNAMIC_DISPATCH(CentredAffine)(x, out, count, mean, a, b);
}

void centred_affine(const float* x, float* out, int64_t count, const float* mean, const float* a, const float* b) {
  HWY_DYNAMIC_DISPATCH(CentredAffineEach)(x, out, count, mean, a, b);
}

float exp_row(const float* x, float* out, int64_t count, float shift) {
  constexpr int64_t kBlock = 4096;
  double total = 0;
  for (int64_t i = 0; i < count; i += kBlock)
    total += HWY_DYNAMIC_DISPATCH(ExpRow)(x + i, out + i, std::min(kBlock, count - i), shift);
  return static_cast<float>(total);
}

void add_scaled(float* acc, const float* x, int64_t count, float a) {
  HWY_DYNAMIC_DISPATCH(AddScaled)(acc, x, count, a);
}

void add_squared_distance(float* acc, const float* x, const float* mean, int64_t count) {
  HWY_DYNAMIC_DISPATCH(AddSquaredDistance)(acc, x, mean, count);
}

void add_exp_distance(float* acc, const float* x, const float* shift, int64_t count) {
  HWY_DYNAMIC_DISPATCH(AddExpDistance)(acc, x, shift, count);
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
