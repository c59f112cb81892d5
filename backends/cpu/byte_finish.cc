#include "backends/cpu/byte_finish.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/byte_finish.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

using I32 = hn::Rebind<int32_t, F>;
using Sums = hn::Vec<I32>;

/// `count` bytes as numbers, the others anything.
template <class T>
HWY_INLINE V load_bytes(const T* x, int64_t count) {
  const hn::Rebind<T, F> narrow;
  if (count >= static_cast<int64_t>(hn::Lanes(F())))
    return hn::ConvertTo(F(), hn::PromoteTo(I32(), hn::LoadU(narrow, x)));
  HWY_ALIGN T some[hn::MaxLanes(F())] = {};
  std::copy_n(x, count, some);
  return hn::ConvertTo(F(), hn::PromoteTo(I32(), hn::LoadU(narrow, some)));
}

/// out[0, count) of a vector.
template <class D, class Vector, class T>
HWY_INLINE void store_some(Vector v, D d, T* out, int64_t count) {
  if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(v, d, out);
  HWY_ALIGN T some[hn::MaxLanes(d)];
  hn::StoreU(v, d, some);
  std::copy_n(some, count, out);
}

/// Rounding to numbers of 8 bits, half to even.
template <class T>
struct Rounding {
  explicit Rounding(int32_t zero)
      : low(constant(static_cast<float>(std::numeric_limits<T>::lowest() - zero))),
        high(constant(static_cast<float>(std::numeric_limits<T>::max() - zero))),
        zero_point(hn::Set(I32(), zero)) {}

  /// Clamped, without the zero point.
  HWY_INLINE V round(V x) const { return hn::Round(hn::Min(hn::Max(x, low), high)); }

  /// `count` numbers of two vectors, as stored.
  HWY_INLINE void store(V a, V b, T* out, int64_t count) const {
    const hn::Rebind<T, F> narrow;
    const auto lanes = static_cast<int64_t>(hn::Lanes(narrow));
#if HWY_TARGET == HWY_AVX2
    if (count >= 2 * lanes) return store_all(a, b, out);
#endif
    const auto stored = [&](V x) HWY_ATTR {
      return hn::DemoteTo(narrow, hn::Add(hn::ConvertTo(I32(), round(x)), zero_point));
    };
    store_some(stored(a), narrow, out, count);
    if (count > lanes) store_some(stored(b), narrow, out + lanes, count - lanes);
  }

 private:
#if HWY_TARGET == HWY_AVX2
  /// What is packed saturates: to 16 bits, with the zero point, and to 8 bits. What is too low for 32 bits becomes the
  /// lowest of them, as does NaN; what is too high must not.
  HWY_INLINE void store_all(V a, V b, T* out) const {
    const __m256 most = _mm256_set1_ps(65536.0f);
    const __m256i low = _mm256_cvtps_epi32(_mm256_min_ps(most, a.raw)),
                  high = _mm256_cvtps_epi32(_mm256_min_ps(most, b.raw));
    const __m256i zero = _mm256_packs_epi32(zero_point.raw, zero_point.raw);
    const __m256i words = _mm256_adds_epi16(_mm256_packs_epi32(low, high), zero);
    const __m256i bytes = std::is_signed_v<T> ? _mm256_packs_epi16(words, words) : _mm256_packus_epi16(words, words);
    const __m256i ordered = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(ordered));
  }
#endif

  V low, high;
  Sums zero_point;
};

/// Rows of sums in pieces of two vectors, whose factors and offsets are loaded once: fn(row, i, two scaled vectors).
template <class Fn>
HWY_INLINE void for_scaled(const ByteFinish& f, const int32_t* sums, int64_t sums_stride, int64_t rows, int64_t column,
                           int64_t columns, const Fn& fn) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < columns; i += 2 * lanes) {
    const float *factors = f.factors + column + i, *offsets = f.offsets + column + i;
    const V factor0 = hn::LoadU(d, factors), factor1 = hn::LoadU(d, factors + lanes);
    const V offset0 = hn::LoadU(d, offsets), offset1 = hn::LoadU(d, offsets + lanes);
    const int32_t* x = sums + i;
    const int64_t second = columns - i > lanes ? lanes : 0;
    for (int64_t r = 0; r < rows; ++r, x += sums_stride)
      fn(r, i, hn::MulAdd(hn::ConvertTo(d, hn::LoadU(I32(), x)), factor0, offset0),
         hn::MulAdd(hn::ConvertTo(d, hn::LoadU(I32(), x + second)), factor1, offset1));
  }
}

template <class T>
void finish_bytes(const ByteFinish& f, const int32_t* sums, int64_t sums_stride, int64_t rows, int64_t column,
                  int64_t columns, int64_t at) {
  const Rounding<T> rounding(f.zero);
  T* out = static_cast<T*>(f.out) + at;
  for_scaled(f, sums, sums_stride, rows, column, columns,
             [=, stride = f.stride](int64_t r, int64_t i, V a, V b)
                 HWY_ATTR { rounding.store(a, b, out + r * stride + i, columns - i); });
}

template <class T>
void finish_sum(const ByteFinish& f, const int32_t* sums, int64_t sums_stride, int64_t rows, int64_t column,
                int64_t columns, int64_t at) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  const ByteFinish::Sum& s = *f.sum;
  const Rounding<T> own(f.zero), total(s.zero);
  const V own_scale = constant(s.own_scale / s.scale), other_scale = constant(s.other_scale / s.scale);
  const V other_zero = constant(static_cast<float>(s.other_zero));
  const T* other = static_cast<const T*>(s.other.data) + at;
  T* out = static_cast<T*>(f.out) + at;
  for_scaled(f, sums, sums_stride, rows, column, columns,
             [=, stride = f.stride](int64_t r, int64_t i, V a, V b) HWY_ATTR {
               const T* x = other + r * stride + i;
               const int64_t count = columns - i;
               const auto add = [&](V scaled, V added) HWY_ATTR {
                 return hn::MulAdd(own.round(scaled), own_scale, hn::Mul(hn::Sub(added, other_zero), other_scale));
               };
               const V first = load_bytes(x, count);
               const V second = count > lanes ? load_bytes(x + lanes, count - lanes) : first;
               total.store(add(a, first), add(b, second), out + r * stride + i, count);
             });
}

void finish_floats(const ByteFinish& f, const int32_t* sums, int64_t sums_stride, int64_t rows, int64_t column,
                   int64_t columns, int64_t at) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  float* out = static_cast<float*>(f.out) + at;
  for_scaled(f, sums, sums_stride, rows, column, columns,
             [=, stride = f.stride](int64_t r, int64_t i, V a, V b) HWY_ATTR {
               float* y = out + r * stride + i;
               store_some(a, F(), y, columns - i);
               if (columns - i > lanes) store_some(b, F(), y + lanes, columns - i - lanes);
             });
}

void Finish(const ByteFinish& f, const int32_t* sums, int64_t sums_stride, int64_t rows, int64_t column,
            int64_t columns, int64_t at) {
  switch (f.kind) {
    case ByteFinish::Kind::kSums:
      for (int64_t r = 0; r < rows; ++r)
        std::copy_n(sums + r * sums_stride, columns, static_cast<int32_t*>(f.out) + at + r * f.stride);
      return;
    case ByteFinish::Kind::kFloats:
      return finish_floats(f, sums, sums_stride, rows, column, columns, at);
    case ByteFinish::Kind::kBytes:
      const auto fn = f.sum ? (f.is_signed ? finish_sum<int8_t> : finish_sum<uint8_t>)
                            : (f.is_signed ? finish_bytes<int8_t> : finish_bytes<uint8_t>);
      return fn(f, sums, sums_stride, rows, column, columns, at);
  }
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(Finish);

void finish(const ByteFinish& f, const int32_t* sums, int64_t sums_stride, int64_t rows, int64_t column,
            int64_t columns, int64_t at) {
  HWY_DYNAMIC_DISPATCH(Finish)(f, sums, sums_stride, rows, column, columns, at);
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
