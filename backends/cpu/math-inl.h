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

HWY_INLINE V exp(V x) {
  constexpr float kOverflows = 90.0f;  // finite, so that the reduction stays defined
  return keep_nan(x, hn::Exp(F(), hn::Min(x, constant(kOverflows))));
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

HWY_INLINE V sigmoid(V x) { return hn::Div(constant(1), hn::Add(constant(1), exp(hn::Neg(x)))); }

HWY_INLINE V tanh(V x) {
  constexpr float kOne = 10.0f;  // rounds to 1 from here on
  return keep_nan(x, hn::Tanh(F(), hn::Clamp(x, constant(-kOne), constant(kOne))));
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
  V p = constant(2.025905430203323e-06f);
  for (const float k : {0.0002846882712887486f, 0.0038081819409568744f, 0.052875508466326174f, 0.19155077537820214f,
                        1.1283791437333384f})
    p = hn::MulAdd(p, t, constant(k));
  V q = constant(3.783180278394067e-05f);
  for (const float k : {0.0011707308809860391f, 0.015055130083514851f, 0.11455981641648029f, 0.5030901302097945f, 1.0f})
    q = hn::MulAdd(q, t, constant(k));
  const V y =
      hn::IfThenElse(hn::Lt(hn::Abs(x), constant(kOne)), hn::Div(hn::Mul(c, p), q), hn::CopySign(constant(1), x));
  return keep_nan(x, y);
}

/// fn(vector) for each vector of in[0, n), stored to out; the last one is partial.
template <class Fn>
HWY_INLINE void map(const float* in, float* out, int64_t n, const Fn& fn) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(fn(hn::LoadU(d, in + i)), d, out + i);
  if (i == n) return;
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  std::copy(in + i, in + n, rest);
  hn::Store(fn(hn::Load(d, rest)), d, rest);
  std::copy(rest, rest + (n - i), out + i);
}

}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
