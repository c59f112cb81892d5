// Derivatives of functions of one number.
#include "backends/gpu/device/function.h"
#include "backends/gpu/device/gradients.h"

namespace mlopt::gpu {
namespace {

MLOPT_DEVICE float gelu_slope(float x) {
  return 0.5f * (1 + erff(x * 0.7071067811865476f)) + x * expf(-0.5f * x * x) * 0.3989422804014327f;
}

MLOPT_DEVICE float gelu_tanh_slope(float x) {
  constexpr float kRoot = 0.7978845608028654f;  // sqrt(2 / pi)
  const float t = tanhf(kRoot * (x + 0.044715f * x * x * x));
  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * kRoot * (1 + 3 * 0.044715f * x * x);
}

MLOPT_DEVICE float mish_slope(float x) {
  const float t = tanhf(softplus(x));
  return t + x * (1 - t * t) * sigmoid(x);
}

MLOPT_DEVICE float swish_slope(float x, float a) {
  const float s = sigmoid(a * x);
  return s + a * x * s * (1 - s);
}

MLOPT_DEVICE float derivative(Slope slope, float a, float b, float x) {
  switch (slope) {
    case Slope::kAbs:
      return x > 0 ? 1 : x < 0 ? -1 : 0;
    case Slope::kAcos:
      return -1 / sqrtf(1 - x * x);
    case Slope::kAcosh:
      return 1 / sqrtf(x * x - 1);
    case Slope::kAsin:
      return 1 / sqrtf(1 - x * x);
    case Slope::kAsinh:
      return 1 / sqrtf(x * x + 1);
    case Slope::kAtan:
      return 1 / (1 + x * x);
    case Slope::kAtanh:
      return 1 / (1 - x * x);
    case Slope::kCelu:
      return x > 0 ? 1 : expf(x / a);
    case Slope::kClip:
      return x >= a && x <= b ? 1 : 0;
    case Slope::kCos:
      return -sinf(x);
    case Slope::kCosh:
      return sinhf(x);
    case Slope::kElu:
      return x > 0 ? 1 : a * expf(x);
    case Slope::kErf:
      return 1.1283791670955126f * expf(-x * x);
    case Slope::kGelu:
      return gelu_slope(x);
    case Slope::kGeluTanh:
      return gelu_tanh_slope(x);
    case Slope::kHardSigmoid:
      return a * x + b > 0 && a * x + b < 1 ? a : 0;
    case Slope::kHardSwish:
      return x <= -3 ? 0 : x >= 3 ? 1 : x / 3 + 0.5f;
    case Slope::kLeakyRelu:
      return x > 0 ? 1 : a;
    case Slope::kMish:
      return mish_slope(x);
    case Slope::kRelu:
      return x > 0 ? 1 : 0;
    case Slope::kSelu:
      return b * (x > 0 ? 1 : a * expf(x));
    case Slope::kSigmoid:
      return x * (1 - x);
    case Slope::kSin:
      return cosf(x);
    case Slope::kSinh:
      return coshf(x);
    case Slope::kSoftplus:
      return sigmoid(x);
    case Slope::kSoftsign:
      return 1 / ((1 + fabsf(x)) * (1 + fabsf(x)));
    case Slope::kSwish:
      return swish_slope(x, a);
    case Slope::kTan:
      return 1 / (cosf(x) * cosf(x));
    case Slope::kTanh:
      return 1 - x * x;
    case Slope::kThresholded:
      return x > a ? 1 : 0;
  }
  return 0;
}

template <class T>
struct Slopes {
  SlopeArgs args;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const float x = widen(static_cast<const T*>(args.at)[i]);
    static_cast<T*>(args.out)[i] =
        narrow<T>(widen(static_cast<const T*>(args.grad)[i]) * derivative(args.slope, args.a, args.b, x));
  }
};

}  // namespace

Status slope(Queue& queue, const SlopeArgs& args) {
  return by_float(args.type, [&](auto one) { return for_each(queue, args.count, Slopes<decltype(one)>{args}); });
}

}  // namespace mlopt::gpu
