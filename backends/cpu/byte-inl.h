// Vectors of integers, two or four of which are multiplied and added at a time, for one instruction set; included once
// for each by hwy/foreach_target.h.
#if defined(MLOPT_BACKENDS_CPU_BYTE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MLOPT_BACKENDS_CPU_BYTE_INL_H
#undef MLOPT_BACKENDS_CPU_BYTE_INL_H
#else
#define MLOPT_BACKENDS_CPU_BYTE_INL_H
#endif

#include <cstring>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {

using I32 = hn::Rebind<int32_t, F>;
using Sums = hn::Vec<I32>;

#if HWY_TARGET == HWY_SCALAR
struct Pairs {
  int16_t even, odd;
};
HWY_INLINE Sums add_pairs(Pairs a, Pairs b, Sums sums) {
  return hn::Add(sums, hn::Set(I32(), a.even * b.even + a.odd * b.odd));
}
HWY_INLINE Pairs load_pairs(const int16_t* b) { return {b[0], b[1]}; }
HWY_INLINE Pairs repeat_pair(const int16_t* a) { return load_pairs(a); }

template <class T>
struct Four {
  T number[4];
};
using Quads = Four<uint8_t>;
using SignedQuads = Four<int8_t>;
HWY_INLINE Pairs multiply_pairs(Quads a, SignedQuads b) {
  const auto sum = [&](int i) {
    return static_cast<int16_t>(a.number[i] * b.number[i] + a.number[i + 1] * b.number[i + 1]);
  };
  return {sum(0), sum(2)};
}
HWY_INLINE Pairs add(Pairs a, Pairs b) {
  return {static_cast<int16_t>(a.even + b.even), static_cast<int16_t>(a.odd + b.odd)};
}
HWY_INLINE Sums widen_pairs(Pairs a, Sums sums) { return hn::Add(sums, hn::Set(I32(), a.even + a.odd)); }
HWY_INLINE SignedQuads load_quads(const int8_t* b) { return {{b[0], b[1], b[2], b[3]}}; }
HWY_INLINE Quads repeat_quad(const uint8_t* a) { return {{a[0], a[1], a[2], a[3]}}; }

template <class T>
HWY_INLINE void widen(const T* in, int64_t count, int32_t zero, int16_t* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int16_t>(in[i] - zero);
}
#else
using I16 = hn::Repartition<int16_t, F>;
using Pairs = hn::Vec<I16>;

/// sums[i] + a[2i] b[2i] + a[2i + 1] b[2i + 1].
HWY_INLINE Sums add_pairs(Pairs a, Pairs b, Sums sums) {
#if HWY_ARCH_X86
  Sums unused = sums;
  return hn::ReorderWidenMulAccumulate(I32(), a, b, sums, unused);
#else
  const I32 d;
  const auto even = [&](Pairs v) HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(d, v))); };
  const auto odd = [&](Pairs v) HWY_ATTR { return hn::ShiftRight<16>(hn::BitCast(d, v)); };
  return hn::Add(sums, hn::Add(hn::Mul(even(a), even(b)), hn::Mul(odd(a), odd(b))));
#endif
}

HWY_INLINE Pairs load_pairs(const int16_t* b) { return hn::LoadU(I16(), b); }
HWY_INLINE Pairs repeat_pair(const int16_t* a) {
  int32_t pair;
  std::memcpy(&pair, a, sizeof pair);
  return hn::BitCast(I16(), hn::Set(I32(), pair));
}

using Quads = hn::Vec<hn::Repartition<uint8_t, F> >;
using SignedQuads = hn::Vec<hn::Repartition<int8_t, F> >;

/// a[2i] b[2i] + a[2i + 1] b[2i + 1] in 16 bits.
HWY_INLINE Pairs multiply_pairs(Quads a, SignedQuads b) {
#if HWY_TARGET == HWY_AVX2
  return Pairs{_mm256_maddubs_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE4
  return Pairs{_mm_maddubs_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX3
  return Pairs{_mm512_maddubs_epi16(a.raw, b.raw)};
#else
  const I16 d;
  const hn::RebindToUnsigned<I16> u;
  const Pairs x = hn::BitCast(d, a), y = hn::BitCast(d, b);
  const Pairs even = hn::Mul(hn::And(x, hn::Set(d, 255)), hn::ShiftRight<8>(hn::ShiftLeft<8>(y)));
  return hn::Add(even, hn::Mul(hn::BitCast(d, hn::ShiftRight<8>(hn::BitCast(u, x))), hn::ShiftRight<8>(y)));
#endif
}
HWY_INLINE Pairs add(Pairs a, Pairs b) { return hn::Add(a, b); }
HWY_INLINE Sums widen_pairs(Pairs a, Sums sums) { return add_pairs(a, hn::Set(I16(), int16_t{1}), sums); }
HWY_INLINE SignedQuads load_quads(const int8_t* b) { return hn::LoadU(hn::Repartition<int8_t, F>(), b); }
HWY_INLINE Quads repeat_quad(const uint8_t* a) {
  int32_t quad;
  std::memcpy(&quad, a, sizeof quad);
  return hn::BitCast(hn::Repartition<uint8_t, F>(), hn::Set(I32(), quad));
}

template <class T>
HWY_INLINE void widen(const T* in, int64_t count, int32_t zero, int16_t* out) {
  const I16 d;
  const hn::Rebind<T, I16> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const Pairs z = hn::Set(d, static_cast<int16_t>(zero));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(narrow, in + i)), z), d, out + i);
  for (; i < count; ++i) out[i] = static_cast<int16_t>(in[i] - zero);
}
#endif

}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
