#include "backends/cpu/bytes.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/bytes.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

using I32 = hn::Rebind<int32_t, F>;

template <class T>
HWY_INLINE V load_numbers(const T* x) {
  const hn::Rebind<T, F> narrow;
  return hn::ConvertTo(F(), hn::PromoteTo(I32(), hn::LoadU(narrow, x)));
}

template <class T>
HWY_INLINE void dequantize(const T* x, float* out, int64_t n, float scale, int32_t zero) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V s = constant(scale), z = constant(static_cast<float>(zero));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Mul(hn::Sub(load_numbers(x + i), z), s), d, out + i);
  for (; i < n; ++i) out[i] = static_cast<float>(x[i] - zero) * scale;
}

void Dequantize(const Bytes& x, float* out, int64_t n, float scale, int32_t zero) {
  if (x.is_signed)
    dequantize(static_cast<const int8_t*>(x.data), out, n, scale, zero);
  else
    dequantize(static_cast<const uint8_t*>(x.data), out, n, scale, zero);
}

/// out[i] = round(value(vector at i)) + zero: the vector is clamped first, to whole numbers, so that its conversion to
/// an integer is defined.
template <class T, class Value>
HWY_INLINE void store_rounded(T* out, int64_t n, int32_t zero, const Value& value) {
  const F d;
  const hn::Rebind<T, F> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V low = constant(static_cast<float>(std::numeric_limits<T>::lowest() - zero));
  const V high = constant(static_cast<float>(std::numeric_limits<T>::max() - zero));
  const auto z = hn::Set(I32(), zero);
  const auto numbers = [&](int64_t i, int64_t count) HWY_ATTR {
    const auto whole = hn::NearestInt(hn::Min(hn::Max(value(i, count), low), high));
    return hn::DemoteTo(narrow, hn::Add(whole, z));
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(numbers(i, lanes), narrow, out + i);
  if (i == n) return;
  HWY_ALIGN T rest[hn::MaxLanes(d)];
  hn::StoreU(numbers(i, n - i), narrow, rest);
  std::copy_n(rest, n - i, out + i);
}

/// `count` elements, the others 0.
HWY_INLINE V load_some(const float* x, int64_t count) {
  const F d;
  if (count == static_cast<int64_t>(hn::Lanes(d))) return hn::LoadU(d, x);
  HWY_ALIGN float some[hn::MaxLanes(d)] = {};
  std::copy_n(x, count, some);
  return hn::Load(d, some);
}

template <class Value>
HWY_INLINE void store_bytes(const MutableBytes& out, int64_t n, int32_t zero, const Value& value) {
  if (out.is_signed)
    store_rounded(static_cast<int8_t*>(out.data), n, zero, value);
  else
    store_rounded(static_cast<uint8_t*>(out.data), n, zero, value);
}

void Quantize(const float* x, const MutableBytes& out, int64_t n, float scale, int32_t zero) {
  store_bytes(out, n, zero,
              [=](int64_t i, int64_t count) HWY_ATTR { return hn::Div(load_some(x + i, count), constant(scale)); });
}

void Requantize(const float* x, const MutableBytes& out, int64_t n, float factor, float offset, int32_t zero) {
  store_bytes(out, n, zero, [=](int64_t i, int64_t count) HWY_ATTR {
    return hn::MulAdd(load_some(x + i, count), constant(factor), constant(offset));
  });
}

void RequantizeEach(const float* x, const MutableBytes& out, int64_t n, const float* factor, const float* offset,
                    int32_t zero) {
  store_bytes(out, n, zero, [=](int64_t i, int64_t count) HWY_ATTR {
    return hn::MulAdd(load_some(x + i, count), load_some(factor + i, count), load_some(offset + i, count));
  });
}

/// Numbers of the operand from element i on; the others 0.
template <class T>
HWY_INLINE V load_steps(const SteppedRow& row, int64_t i, int64_t count) {
  const T* x = static_cast<const T*>(row.numbers.data);
  const V zero = constant(static_cast<float>(row.steps.zero)), scale = constant(row.steps.scale);
  if (!row.moves) return hn::Mul(hn::Sub(constant(*x), zero), scale);
  if (count == static_cast<int64_t>(hn::Lanes(F()))) return hn::Mul(hn::Sub(load_numbers(x + i), zero), scale);
  HWY_ALIGN T some[hn::MaxLanes(F())] = {};
  for (size_t k = 0; k < std::min(static_cast<size_t>(count), hn::Lanes(F())); ++k)
    some[k] = x[i + static_cast<int64_t>(k)];
  return hn::Mul(hn::Sub(load_numbers(some), zero), scale);
}

template <class T>
HWY_INLINE void combine(bool multiplies, const SteppedRow& a, const SteppedRow& b, const Steps& steps, T* out,
                        int64_t n) {
  const V scale = constant(steps.scale);
  if (multiplies)
    return store_rounded(out, n, steps.zero, [&](int64_t i, int64_t count) HWY_ATTR {
      return hn::Div(hn::Mul(load_steps<T>(a, i, count), load_steps<T>(b, i, count)), scale);
    });
  store_rounded(out, n, steps.zero, [&](int64_t i, int64_t count) HWY_ATTR {
    return hn::Div(hn::Add(load_steps<T>(a, i, count), load_steps<T>(b, i, count)), scale);
  });
}

void Combine(bool multiplies, const SteppedRow& a, const SteppedRow& b, const Steps& steps, const MutableBytes& out,
             int64_t n) {
  if (out.is_signed)
    combine(multiplies, a, b, steps, static_cast<int8_t*>(out.data), n);
  else
    combine(multiplies, a, b, steps, static_cast<uint8_t*>(out.data), n);
}

template <class T>
HWY_INLINE void add_to(const T* x, int32_t* sums, int64_t n) {
  const I32 d;
  const hn::Rebind<T, I32> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::PromoteTo(d, hn::LoadU(narrow, x + i))), d, sums + i);
  for (; i < n; ++i) sums[i] += x[i];
}

void AddTo(const Bytes& x, int32_t* sums, int64_t n) {
  if (x.is_signed)
    add_to(static_cast<const int8_t*>(x.data), sums, n);
  else
    add_to(static_cast<const uint8_t*>(x.data), sums, n);
}

void FlipSign(const uint8_t* x, uint8_t* out, int64_t n) {
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Xor(hn::LoadU(d, x + i), hn::Set(d, uint8_t{128})), d, out + i);
  for (; i < n; ++i) out[i] = x[i] ^ 128;
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(Dequantize);
HWY_EXPORT(Quantize);
HWY_EXPORT(Requantize);
HWY_EXPORT(RequantizeEach);
HWY_EXPORT(Combine);
HWY_EXPORT(AddTo);
HWY_EXPORT(FlipSign);

void dequantize(Bytes x, float* out, int64_t count, float scale, int32_t zero) {
  HWY_DYNAMIC_DISPATCH(Dequantize)(x, out, count, scale, zero);
}
void quantize(const float* x, MutableBytes out, int64_t count, float scale, int32_t zero) {
  HWY_DYNAMIC_DISPATCH(Quantize)(x, out, count, scale, zero);
}
void requantize(const float* x, MutableBytes out, int64_t count, float factor, float offset, int32_t zero) {
  HWY_DYNAMIC_DISPATCH(Requantize)(x, out, count, factor, offset, zero);
}
void requantize(const float* x, MutableBytes out, int64_t count, const float* factor, const float* offset,
                int32_t zero) {
  HWY_DYNAMIC_DISPATCH(RequantizeEach)(x, out, count, factor, offset, zero);
}
void combine(bool multiplies, const SteppedRow& a, const SteppedRow& b, const Steps& steps, MutableBytes out,
             int64_t count) {
  HWY_DYNAMIC_DISPATCH(Combine)(multiplies, a, b, steps, out, count);
}
void add_to(Bytes x, int32_t* sums, int64_t count) { HWY_DYNAMIC_DISPATCH(AddTo)(x, sums, count); }
void flip_sign(const void* x, void* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(FlipSign)(static_cast<const uint8_t*>(x), static_cast<uint8_t*>(out), count);
}

int64_t sum(Bytes x, int64_t count) {
  const auto add = [count](const auto* first) { return std::accumulate(first, first + count, int64_t{0}); };
  return x.is_signed ? add(static_cast<const int8_t*>(x.data)) : add(static_cast<const uint8_t*>(x.data));
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
