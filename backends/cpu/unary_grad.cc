// Gradients of elementwise functions of one input.
#include "backends/cpu/unary_grad.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/kernels.h"
#include "backends/cpu/targets.h"
#include "core/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/unary_grad.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

template <class Mask>
HWY_INLINE V one_where(Mask mask) {
  return hn::IfThenElseZero(mask, constant(1));
}

HWY_INLINE V gelu_slope(V x) {
  constexpr float kRootHalf = 0.70710678118654752f, kDensity = 0.39894228040143268f;
  const V share = hn::MulAdd(erf(hn::Mul(x, constant(kRootHalf))), constant(0.5f), constant(0.5f));
  const V density = hn::Mul(exp(hn::Mul(hn::Mul(x, x), constant(-0.5f))), constant(kDensity));
  return hn::MulAdd(x, density, share);
}

HWY_INLINE V gelu_tanh_slope(V x) {
  constexpr float kTwoRoots = 1.5957691216057308f, kCube = 0.044715f;
  const V square = hn::Mul(x, x), one = constant(1);
  const V s = sigmoid(hn::Mul(hn::Mul(x, constant(kTwoRoots)), hn::MulAdd(square, constant(kCube), one)));
  const V inner = hn::Mul(constant(kTwoRoots), hn::MulAdd(square, constant(3 * kCube), one));
  return hn::MulAdd(hn::Mul(hn::Mul(x, s), hn::Sub(one, s)), inner, s);
}

HWY_INLINE V swish_slope(V x, V a) {
  const V s = sigmoid(hn::Mul(a, x));
  return hn::MulAdd(hn::Mul(hn::Mul(a, x), s), hn::Sub(constant(1), s), s);
}

HWY_INLINE V hard_swish_slope(V x) {
  const V line = hn::MulAdd(x, constant(1.0f / 3), constant(0.5f));
  const V upper = hn::IfThenElse(hn::Ge(x, constant(3)), constant(1), line);
  return hn::IfThenElse(hn::Le(x, constant(-3)), constant(0), upper);
}

/// fn(slope) with slope(v), both vectors.
template <class Fn>
HWY_INLINE void with_slope(Slope slope, float alpha, float beta, const Fn& fn) {
  const V a = constant(alpha), b = constant(beta), zero = constant(0), one = constant(1);
  switch (slope) {
    case Slope::kRelu:
      return fn([=](V y) HWY_ATTR { return one_where(hn::Gt(y, zero)); });
    case Slope::kSigmoid:
      return fn([=](V y) HWY_ATTR { return hn::Mul(y, hn::Sub(one, y)); });
    case Slope::kTanh:
      return fn([=](V y) HWY_ATTR { return hn::NegMulAdd(y, y, one); });
    case Slope::kAbs:
      return fn([=](V x) HWY_ATTR { return hn::Sub(one_where(hn::Gt(x, zero)), one_where(hn::Lt(x, zero))); });
    case Slope::kClip:
      return fn([=](V x) HWY_ATTR { return one_where(hn::And(hn::Ge(x, a), hn::Le(x, b))); });
    case Slope::kElu:
      return fn([=](V x) HWY_ATTR { return hn::IfThenElse(hn::Gt(x, zero), one, hn::Mul(a, exp(x))); });
    case Slope::kErf:
      return fn([=](V x) HWY_ATTR { return hn::Mul(constant(1.1283791670955126f), exp(hn::Neg(hn::Mul(x, x)))); });
    case Slope::kGelu:
      return fn([=](V x) HWY_ATTR { return gelu_slope(x); });
    case Slope::kGeluTanh:
      return fn([=](V x) HWY_ATTR { return gelu_tanh_slope(x); });
    case Slope::kHardSigmoid:
      return fn([=](V x) HWY_ATTR {
        const V line = hn::MulAdd(a, x, b);
        return hn::IfThenElseZero(hn::And(hn::Gt(line, zero), hn::Lt(line, one)), a);
      });
    case Slope::kHardSwish:
      return fn([=](V x) HWY_ATTR { return hard_swish_slope(x); });
    case Slope::kLeakyRelu:
      return fn([=](V x) HWY_ATTR { return hn::IfThenElse(hn::Gt(x, zero), one, a); });
    case Slope::kSoftplus:
      return fn([=](V x) HWY_ATTR { return sigmoid(x); });
    case Slope::kSwish:
      return fn([=](V x) HWY_ATTR { return swish_slope(x, a); });
  }
}

void UnaryGrad(Slope which, float alpha, float beta, const float* v, const float* dy, float* out, int64_t count) {
  with_slope(which, alpha, beta, [&](const auto& slope) HWY_ATTR {
    each_vector(0, count, [&](int64_t i, size_t n) HWY_ATTR {
      store_n(hn::Mul(load_n(dy + i, n), slope(load_n(v + i, n))), out + i, n);
    });
  });
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(UnaryGrad);

constexpr std::pair<std::string_view, Slope> kSlopes[] = {
    {"Relu", Slope::kRelu},
    {"Sigmoid", Slope::kSigmoid},
    {"Tanh", Slope::kTanh},
    {"Abs", Slope::kAbs},
    {"Clip", Slope::kClip},
    {"Elu", Slope::kElu},
    {"Erf", Slope::kErf},
    {"Gelu", Slope::kGelu},
    {"GeluTanh", Slope::kGeluTanh},
    {"HardSigmoid", Slope::kHardSigmoid},
    {"HardSwish", Slope::kHardSwish},
    {"LeakyRelu", Slope::kLeakyRelu},
    {"Softplus", Slope::kSoftplus},
    {"Swish", Slope::kSwish},
};

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &v = site.desc(0), &dy = site.desc(1);
  if (v.dtype != DType::kF32 || dy.dtype != DType::kF32 || v.dims != dy.dims)
    return Decline{"not two float32 of a shape"};
  const auto slope = slope_of(site.view.get_string("of", ""));
  if (!slope) return Decline{"no vector loop for the derivative"};
  PlannedStep step{.out = {dy}};
  step.in_place = 1;
  step.run = [slope = *slope, a = site.view.get_float("alpha", 0), b = site.view.get_float("beta", 0),
              count = v.size()](const Buffers& buffers) {
    constexpr int64_t kGrain = 16384;
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      unary_grad(slope, a, b, buffers.in<float>(0) + begin, buffers.in<float>(1) + begin, buffers.out<float>(0) + begin,
                 end - begin);
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "mlopt", .op = "UnaryGrad", .plan = plan, .layout = LayoutRule::kFollows}};

}  // namespace

std::optional<Slope> slope_of(std::string_view op) {
  const auto found = std::find_if(std::begin(kSlopes), std::end(kSlopes), [&](const auto& s) { return s.first == op; });
  return found == std::end(kSlopes) ? std::nullopt : std::optional(found->second);
}

void unary_grad(Slope slope, float a, float b, const float* v, const float* dy, float* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(UnaryGrad)(slope, a, b, v, dy, out, count);
}

std::span<const Kernel> unary_grad_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
