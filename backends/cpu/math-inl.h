// Vector functions of float32 for one instruction set; included once for each by hwy/foreach_target.h. Unlike Highway's
// own they give what the C library gives for NaN, infinities and numbers out of range.
#if defined(MLOPT_BACKENDS_CPU_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MLOPT_BACKENDS_CPU_MATH_INL_H
#undef MLOPT_BACKENDS_CPU_MATH_INL_H
#else
#define MLOPT_BACKENDS_CPU_MATH_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

HWY_INLINE V constant(float x) { return hn::Set(F(), x); }

/// `y`, but NaN where x is NaN.
HWY_INLINE V keep_nan(V x, V y) { return hn::IfThenElse(hn::IsNaN(x), x, y); }

/// The larger or the smaller; NaN when either is.
HWY_INLINE V larger(V a, V b) { return keep_nan(a, hn::IfThenElse(hn::Gt(a, b), a, b)); }
HWY_INLINE V smaller(V a, V b) { return keep_nan(a, hn::IfThenElse(hn::Lt(a, b), a, b)); }

/// x between limits that are numbers; NaN stays, and a limit's zero keeps its sign.
HWY_INLINE V limited(V x, V low, V high) {
  x = hn::IfThenElse(hn::Le(x, low), low, x);
  return hn::IfThenElse(hn::Ge(x, high), high, x);
}

/// The sum of the coefficients times 1, x, x^2 and so on.
HWY_INLINE V polynomial(V, float coefficient) { return constant(coefficient); }
template <class... Others>
HWY_INLINE V polynomial(V x, float coefficient, Others... others) {
  return hn::MulAdd(polynomial(x, others...), x, constant(coefficient));
}

/// Added to a number below 2^22 it rounds it to a whole one, which then lies in the last bits of the sum.
constexpr float kRounds = 12582912;  // 1.5 * 2^23

/// y 2^w, by adding to its exponent, for the whole number w in the last bits of `rounded`; of a normal result.
HWY_INLINE V scaled(V y, V rounded) {
  const hn::RebindToSigned<F> integers;
  return hn::BitCast(F(), hn::Add(hn::BitCast(integers, y), hn::ShiftLeft<23>(hn::BitCast(integers, rounded))));
}

/// 2^x of integers within the range of normal numbers.
template <class Integers>
HWY_INLINE V power_of_two(Integers x) {
  const hn::RebindToSigned<F> integers;
  return hn::BitCast(F(), hn::ShiftLeft<23>(hn::Add(x, hn::Set(integers, 127))));
}

/// x without `whole` times ln 2, which is taken in two parts.
HWY_INLINE V rest_of(V x, V whole) {
  constexpr float kLn2 = 0.693145751953125f, kLn2Rest = 1.428606765330187e-06f;  // the first without its last bits
  return hn::NegMulAdd(whole, constant(kLn2Rest), hn::NegMulAdd(whole, constant(kLn2), x));
}

/// exp(x) by a polynomial fitted to the fractions of x / ln 2, with a relative error of 1e-7, times a power of two, in
/// halves as it may lie beyond the normal numbers.
HWY_INLINE V exp(V x) {
  constexpr float kUnderflows = -105, kOverflows = 90, kLog2E = 1.4426950408889634f;
  const hn::RebindToSigned<F> integers;
  const V inside = hn::Clamp(x, constant(kUnderflows), constant(kOverflows));
  const V rounded = hn::MulAdd(inside, constant(kLog2E), constant(kRounds));
  const V rest = rest_of(inside, hn::Sub(rounded, constant(kRounds)));
  const V y = polynomial(rest, 1.0f, 1.0f, 0.4999999403953552f, 0.1666652113199234f, 0.04166838899254799f,
                         0.008368710987269878f, 0.0013814610429108143f);
  const auto exponent = hn::Sub(hn::BitCast(integers, rounded), hn::BitCast(integers, constant(kRounds)));
  const auto half = hn::ShiftRight<1>(exponent);
  return keep_nan(x, hn::Mul(hn::Mul(y, power_of_two(half)), power_of_two(hn::Sub(exponent, half))));
}

/// The same of numbers that are not above 0, with a relative error of 2e-7. What is below e^-86 becomes 0: denormal
/// numbers would take a processor a hundred cycles each.
HWY_INLINE V exp_of_negative(V x) {
  constexpr float kVanishes = -86, kLog2E = 1.4426950408889634f;
  const V inside = hn::Max(x, constant(kVanishes));
  const V rounded = hn::MulAdd(inside, constant(kLog2E), constant(kRounds));
  const V rest = rest_of(inside, hn::Sub(rounded, constant(kRounds)));
  const V y = polynomial(rest, 1.0f, 0.9999997019767761f, 0.4999914765357971f, 0.1666763871908188f,
                         0.04189816117286682f, 0.008290272206068039f);
  return keep_nan(x, hn::IfThenZeroElse(hn::Lt(x, constant(kVanishes)), scaled(y, rounded)));
}

HWY_INLINE V log(V x) {
  const F d;
  const V zero = hn::Zero(d), infinity = constant(std::numeric_limits<float>::infinity());
  V y = hn::Log(d, x);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Lt(x, zero), constant(std::numeric_limits<float>::quiet_NaN()), y);
  return keep_nan(x, y);
}

/// 2^x of numbers up to 128, from where on it is infinite, to a relative error of 1e-7; below -126 it is 2^-126. The
/// polynomial is fitted to the fractions of x.
HWY_INLINE V exp2(V x) {
  x = hn::Clamp(x, constant(-126), constant(128));
  const V rounded = hn::Add(x, constant(kRounds)), fraction = hn::Sub(x, hn::Sub(rounded, constant(kRounds)));
  const V y = polynomial(fraction, 1.0f, 0.6931471824645996f, 0.24022647738456726f, 0.055503323674201965f,
                         0.00961843691766262f, 0.0013398875016719103f, 0.00015353361959569156f);
  return scaled(y, rounded);
}

/// Rounded in the exponent, which costs a small result a few bits.
HWY_INLINE V sigmoid(V x) {
  constexpr float kLog2E = 1.4426950408889634f;
  const V e = exp2(hn::Mul(x, constant(-kLog2E)));
  return keep_nan(x, hn::Div(constant(1), hn::Add(constant(1), e)));
}

/// A rational approximation x P(x^2) / Q(x^2), fitted to a relative error of 2e-8 on [-9.02, 9.02], where tanh
/// reaches 1.
HWY_INLINE V tanh(V x) {
  constexpr float kOne = 9.02f;
  const V c = hn::Clamp(x, constant(-kOne), constant(kOne)), one = constant(1);
  const V t = hn::Mul(c, c);
  const V p = polynomial(t, 1.0f, 0.13379710912704468f, 0.0034940261393785477f, 2.0583340301527642e-05f,
                         1.3318876668222401e-08f);
  const V q =
      polynomial(t, 1.0f, 0.46713027358055115f, 0.025871042162179947f, 0.00032830791315063834f, 7.761939286865527e-07f);
  const V y = hn::Clamp(hn::Div(hn::Mul(c, p), q), hn::Neg(one), one);
  return keep_nan(x, hn::IfThenElse(hn::Lt(hn::Abs(x), constant(kOne)), y, hn::CopySign(one, x)));
}

/// log(1 + exp(x)) without overflow: max(x, 0) + log1p(exp(-|x|)).
HWY_INLINE V softplus(V x) {
  const V tail = hn::Log1p(F(), exp(hn::Neg(hn::Abs(x))));
  return keep_nan(x, hn::Add(hn::Max(x, constant(0)), tail));
}

/// A rational approximation x P(x^2) / Q(x^2), fitted to a relative error of 2e-8 on [-3.95, 3.95], where erf
/// reaches 1.
HWY_INLINE V erf(V x) {
  constexpr float kOne = 3.95f;
  const V c = hn::Clamp(x, constant(-kOne), constant(kOne));
  const V t = hn::Mul(c, c);
  const V p = polynomial(t, 1.1283791437333384f, 0.19155077537820214f, 0.052875508466326174f, 0.0038081819409568744f,
                         0.0002846882712887486f, 2.025905430203323e-06f);
  const V q = polynomial(t, 1.0f, 0.5030901302097945f, 0.11455981641648029f, 0.015055130083514851f,
                         0.0011707308809860391f, 3.783180278394067e-05f);
  const V y =
      hn::IfThenElse(hn::Lt(hn::Abs(x), constant(kOne)), hn::Div(hn::Mul(c, p), q), hn::CopySign(constant(1), x));
  return keep_nan(x, y);
}

/// The first `n` elements from `from`, at most a vector's lanes, then zeros.
HWY_INLINE V load_n(const float* from, size_t n) {
  const F d;
  if (n == hn::Lanes(d)) return hn::LoadU(d, from);
#if HWY_TARGET <= HWY_AVX2  // which has masks that keep from touching the others
  return hn::MaskedLoad(hn::FirstN(d, n), d, from);
#endif
  HWY_ALIGN float part[hn::MaxLanes(d)] = {};
  std::copy_n(from, n, part);
  return hn::Load(d, part);
}
HWY_INLINE void store_n(V x, float* to, size_t n) {
  const F d;
  if (n == hn::Lanes(d)) return hn::StoreU(x, d, to);
#if HWY_TARGET <= HWY_AVX2
  return hn::BlendedStore(x, hn::FirstN(d, n), d, to);
#endif
  HWY_ALIGN float part[hn::MaxLanes(d)];
  hn::Store(x, d, part);
  std::copy_n(part, n, to);
}

/// fn(i, n) for the vectors of elements [begin, end): `n` of them from i, fewer than the lanes in the last one.
template <class Fn>
HWY_INLINE void each_vector(int64_t begin, int64_t end, const Fn& fn) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  int64_t i = begin;
  for (; i + lanes <= end; i += lanes) fn(i, static_cast<size_t>(lanes));
  if (i < end) fn(i, static_cast<size_t>(end - i));
}

/// out[i] = exp(in[i] - shift) of differences that are not above 0; gives their sum in float.
HWY_INLINE float exp_row(const float* in, float* out, int64_t n, float shift) {
  const F d;
  const V by = constant(shift);
  V sums = hn::Zero(d);
  each_vector(0, n, [&](int64_t i, size_t count) HWY_ATTR {
    const V e = exp_of_negative(hn::Sub(load_n(in + i, count), by));
    store_n(e, out + i, count);
    sums = hn::Add(sums, count == hn::Lanes(d) ? e : hn::IfThenElseZero(hn::FirstN(d, count), e));
  });
  return hn::GetLane(hn::SumOfLanes(d, sums));
}

/// fn(vector) for each vector of in[0, n), stored to out; the last one is partial.
template <class Fn>
HWY_INLINE void map(const float* in, float* out, int64_t n, const Fn& fn) {
  each_vector(0, n, [&](int64_t i, size_t count) HWY_ATTR { store_n(fn(load_n(in + i, count)), out + i, count); });
}

}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
