#pragma once
// Functions of one number, in float32.
#include "backends/gpu/device/number.h"
#include "core/base/activation.h"

namespace mlopt::gpu {

MLOPT_DEVICE float limited(float x, float low, float high) {  // NaN stays
  return x < low ? low : x > high ? high : x;
}

MLOPT_DEVICE float sigmoid(float x) { return 1 / (1 + expf(-x)); }

MLOPT_DEVICE float softplus(float x) { return (x > 0 ? x : 0) + log1pf(expf(-fabsf(x))); }

MLOPT_DEVICE float gelu_tanh(float x) {
  constexpr float kRoot = 0.7978845608028654f;  // sqrt(2 / pi)
  return 0.5f * x * (1 + tanhf(kRoot * (x + 0.044715f * x * x * x)));
}

MLOPT_DEVICE float apply(const Activation& act, float x) {
  const float a = act.a, b = act.b;
  switch (act.fn) {
    case Fn::kNone:
      return x;
    case Fn::kAbs:
      return fabsf(x);
    case Fn::kCeil:
      return ceilf(x);
    case Fn::kClip:
      return limited(x, a, b);
    case Fn::kCube:
      return x * x * x;
    case Fn::kElu:
      return x <= 0 ? a * expm1f(x) : x;
    case Fn::kErf:
      return erff(x);
    case Fn::kExp:
      return expf(x);
    case Fn::kFloor:
      return floorf(x);
    case Fn::kGelu:
      return 0.5f * x * (1 + erff(x * 0.7071067811865476f));
    case Fn::kGeluTanh:
      return gelu_tanh(x);
    case Fn::kHardSigmoid:
      return limited(a * x + b, 0, 1);
    case Fn::kHardSwish:
      return x * limited(a * x + b, 0, 1);
    case Fn::kLeakyRelu:
      return x < 0 ? a * x : x;
    case Fn::kLog:
      return logf(x);
    case Fn::kMish:
      return x * tanhf(softplus(x));
    case Fn::kNeg:
      return -x;
    case Fn::kReciprocal:
      return 1 / x;
    case Fn::kRelu:
      return x < 0 ? 0 : x;
    case Fn::kRound:
      return rintf(x);
    case Fn::kSelu:
      return b * (x <= 0 ? a * expm1f(x) : x);
    case Fn::kSigmoid:
      return sigmoid(x);
    case Fn::kSoftplus:
      return softplus(x);
    case Fn::kSoftsign:
      return x / (1 + fabsf(x));
    case Fn::kSqrt:
      return sqrtf(x);
    case Fn::kSquare:
      return x * x;
    case Fn::kSwish:
      return x * sigmoid(a * x);
    case Fn::kTanh:
      return tanhf(x);
    case Fn::kThresholded:
      return x > a ? x : 0;
  }
  return x;
}

}  // namespace mlopt::gpu
