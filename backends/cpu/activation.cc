#include "backends/cpu/activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "backends/cpu/targets.h"
#include "core/base/parallel.h"
#include "core/tensor/halves.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/activation.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// `above` where x > 0 or NaN, else `below`.
HWY_INLINE V split(V x, V above, V below) { return hn::IfThenElse(hn::Le(x, constant(0)), below, above); }

HWY_INLINE V expm1(V x) { return keep_nan(x, hn::Expm1(F(), hn::Min(x, constant(0)))); }

HWY_INLINE V gelu_tanh(V x) {
  constexpr float kTwoRoots = 1.5957691216057308f;  // 2 sqrt(2 / pi), as (1 + tanh(u)) / 2 is sigmoid(2 u)
  const V inner = hn::MulAdd(hn::Mul(constant(0.044715f), x), hn::Mul(x, x), x);
  return hn::Mul(x, sigmoid(hn::Mul(constant(kTwoRoots), inner)));
}

HWY_INLINE V gelu(V x) {
  constexpr float kRoot = 0.7071067811865476f;  // sqrt(1 / 2)
  return hn::Mul(hn::Mul(constant(0.5f), x), hn::Add(constant(1), erf(hn::Mul(x, constant(kRoot)))));
}

HWY_INLINE V ramp(V x, float a, float b) {
  const V y = hn::MulAdd(x, constant(a), constant(b));
  return limited(y, constant(0), constant(1));
}

void Apply(const Activation& act, const float* in, float* out, int64_t n) {
  const float a = act.a, b = act.b;
  const V zero = constant(0), one = constant(1);
  switch (act.fn) {
    case Fn::kNone:
      return map(in, out, n, [](V x) HWY_ATTR { return x; });
    case Fn::kAbs:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Abs(x); });
    case Fn::kCeil:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Ceil(x); });
    case Fn::kClip:
      return map(in, out, n, [=](V x) HWY_ATTR { return smaller(larger(x, constant(a)), constant(b)); });
    case Fn::kCube:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Mul(x, hn::Mul(x, x)); });
    case Fn::kElu:
      return map(in, out, n, [=](V x) HWY_ATTR { return split(x, x, hn::Mul(constant(a), expm1(x))); });
    case Fn::kErf:
      return map(in, out, n, [](V x) HWY_ATTR { return erf(x); });
    case Fn::kExp:
      return map(in, out, n, [](V x) HWY_ATTR { return exp(x); });
    case Fn::kFloor:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Floor(x); });
    case Fn::kGelu:
      return map(in, out, n, [](V x) HWY_ATTR { return gelu(x); });
    case Fn::kGeluTanh:
      return map(in, out, n, [](V x) HWY_ATTR { return gelu_tanh(x); });
    case Fn::kHardSigmoid:
      return map(in, out, n, [=](V x) HWY_ATTR { return ramp(x, a, b); });
    case Fn::kHardSwish:
      return map(in, out, n, [=](V x) HWY_ATTR { return hn::Mul(x, ramp(x, a, b)); });
    case Fn::kLeakyRelu:
      return map(in, out, n, [=](V x) HWY_ATTR { return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(constant(a), x), x); });
    case Fn::kLog:
      return map(in, out, n, [](V x) HWY_ATTR { return log(x); });
    case Fn::kMish:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Mul(x, tanh(softplus(x))); });
    case Fn::kNeg:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Neg(x); });
    case Fn::kReciprocal:
      return map(in, out, n, [=](V x) HWY_ATTR { return hn::Div(one, x); });
    case Fn::kRelu:
      return map(in, out, n, [=](V x) HWY_ATTR { return larger(x, zero); });
    case Fn::kRound:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Round(x); });
    case Fn::kSelu:
      return map(in, out, n,
                 [=](V x) HWY_ATTR { return hn::Mul(constant(b), split(x, x, hn::Mul(constant(a), expm1(x)))); });
    case Fn::kSigmoid:
      return map(in, out, n, [](V x) HWY_ATTR { return sigmoid(x); });
    case Fn::kSoftplus:
      return map(in, out, n, [](V x) HWY_ATTR { return softplus(x); });
    case Fn::kSoftsign:
      return map(in, out, n, [=](V x) HWY_ATTR { return hn::Div(x, hn::Add(one, hn::Abs(x))); });
    case Fn::kSqrt:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Sqrt(x); });
    case Fn::kSquare:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Mul(x, x); });
    case Fn::kSwish:
      return map(in, out, n, [=](V x) HWY_ATTR { return hn::Mul(x, sigmoid(hn::Mul(constant(a), x))); });
    case Fn::kTanh:
      return map(in, out, n, [](V x) HWY_ATTR { return tanh(x); });
    case Fn::kThresholded:
      return map(in, out, n, [=](V x) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(x, constant(a)), x); });
  }
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(Apply);

void apply(const Activation& act, const float* in, float* out, int64_t count) {
  constexpr int64_t kGrain = 16384;  // elements below which a second thread costs more than it brings
  const auto run = HWY_DYNAMIC_DISPATCH(Apply);
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) { run(act, in + begin, out + begin, end - begin); });
}

void apply_here(const Activation& act, const float* in, float* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(Apply)(act, in, out, count);
}

void apply_to(const Activation& act, const TensorDesc& tensor, std::byte* elements) {
  if (act.fn == Fn::kNone) return;
  if (tensor.dtype == DType::kF32) {
    auto* y = reinterpret_cast<float*>(elements);
    return apply(act, y, y, tensor.size());
  }
  constexpr int64_t kGrain = 16384, kTile = 2048;  // elements
  parallel_for(tensor.size(), kGrain, [&](int64_t begin, int64_t end) {
    std::array<float, kTile> tile;
    auto* y = reinterpret_cast<BFloat16*>(elements);
    for (int64_t i = begin; i < end; i += kTile) {
      const int64_t count = std::min(kTile, end - i);
      widen(y + i, tile.data(), count);
      apply_here(act, tile.data(), tile.data(), count);
      narrow(tile.data(), y + i, count);
    }
  });
}

std::optional<Limits> limits_of(const Activation& act) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (act.fn) {
    case Fn::kNone:
      return Limits{-kInfinity, kInfinity};
    case Fn::kRelu:
      return Limits{0, kInfinity};
    case Fn::kClip:
      if (std::isnan(act.a) || std::isnan(act.b)) return std::nullopt;
      return Limits{act.a, act.b};
    default:
      return std::nullopt;
  }
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
