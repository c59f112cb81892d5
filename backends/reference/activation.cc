#include "backends/reference/activation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/reference/broadcast.h"
#include "backends/reference/kernels.h"
#include "backends/reference/map.h"

namespace mlopt::reference {
namespace {

/// A map over floats with one or two attributes, converted to the compute type: fn(x, a, b).
template <class Fn>
void with_attributes(Call& call, std::pair<const char*, float> first, std::pair<const char*, float> second,
                     const Fn& fn) {
  const float a = call.view.get_float(first.first, first.second);
  const float b = second.first ? call.view.get_float(second.first, second.second) : 0.0f;
  map_floats(call, [&](auto x) {
    using T = decltype(x);
    return fn(x, static_cast<T>(a), static_cast<T>(b));
  });
}

constexpr std::pair<const char*, float> kNone{nullptr, 0.0f};

void celu(Call& call) {
  with_attributes(call, {"alpha", 1.0f}, kNone,
                  [](auto x, auto alpha, auto) { return x < 0 ? alpha * std::expm1(x / alpha) : x; });
}

void elu(Call& call) {
  with_attributes(call, {"alpha", 1.0f}, kNone,
                  [](auto x, auto alpha, auto) { return x < 0 ? alpha * std::expm1(x) : x; });
}

void gelu(Call& call) {
  const std::string form = call.view.get_string("approximate", "none");
  if (form == "none")
    map_floats(call, [](auto x) { return gelu_exact(x); });
  else if (form == "tanh")
    map_floats(call, [](auto x) { return gelu_tanh(x); });
  else
    fail(call, "approximate must be 'none' or 'tanh', not '" + form + "'");
}

void hard_sigmoid(Call& call) {
  with_attributes(call, {"alpha", 0.2f}, {"beta", 0.5f}, [](auto x, auto alpha, auto beta) {
    const auto line = alpha * x + beta;
    return line < 0 ? decltype(x){0} : line > 1 ? decltype(x){1} : line;
  });
}

template <class T>
T hard_swish(T x) {
  const T gate = x / 6 + T{0.5};
  return x * (gate < 0 ? T{0} : gate > 1 ? T{1} : gate);
}

void leaky_relu(Call& call) {
  with_attributes(call, {"alpha", 0.01f}, kNone, [](auto x, auto alpha, auto) { return x < 0 ? alpha * x : x; });
}

void selu(Call& call) {
  const bool first = call.view.opset() < 6;
  with_attributes(call, {"alpha", first ? 1.6732f : 1.67326319217681884765625f},
                  {"gamma", first ? 1.0507f : 1.05070102214813232421875f},
                  [](auto x, auto alpha, auto gamma) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); });
}

void shrink(Call& call) {
  const double bias = call.view.get_float("bias", 0.0f), lambd = call.view.get_float("lambd", 0.5f);
  map_numbers(call, [=](auto x) {
    const auto value = static_cast<double>(x);
    return static_cast<decltype(x)>(value < -lambd ? value + bias : value > lambd ? value - bias : 0.0);
  });
}

void swish(Call& call) {
  with_attributes(call, {"alpha", 1.0f}, kNone, [](auto x, auto alpha, auto) { return x * sigmoid(alpha * x); });
}

void swiglu(Call& call) {
  const float alpha = call.view.get_float("alpha", 1.0f);
  const Tensor &gate = call.in(0), &linear = call.in(1);
  require(call, gate.dims() == linear.dims() && gate.dtype() == linear.dtype(),
          "the inputs must have one shape and type");
  with_float(call, gate.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const auto product = [a = static_cast<T>(alpha)](T x, T y) { return x * sigmoid(a * x) * y; };
    call.set(0, as(broadcast_map<T, T, T>(gate.dims(), widened(gate), widened(linear), product), gate.dtype()));
  });
}

void thresholded_relu(Call& call) {
  with_attributes(call, {"alpha", 1.0f}, kNone,
                  [](auto x, auto alpha, auto) { return x > alpha ? x : decltype(x){0}; });
}

/// The slope is broadcast to x; opset 6 and before gave one slope for each channel.
void prelu(Call& call) {
  const Tensor& x = call.in(0);
  Tensor slope = call.in(1);
  require(call, slope.dtype() == x.dtype(), "the slope must have the type of the input");
  if (call.view.opset() < 7 && slope.rank() == 1 && slope.size() > 1 && x.rank() > 2) {
    Dims dims(static_cast<size_t>(x.rank() - 1), 1);
    dims[0] = slope.size();
    slope = slope.reshaped(dims);
  }
  if (broadcast_dims(call, {x.dims(), slope.dims()}) != x.dims())
    fail(call, "the slope does not broadcast to the input");
  with_number(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const auto fn = [](T value, T factor) { return value < 0 ? static_cast<T>(value * factor) : value; };
    call.set(0, as(broadcast_map<T, T, T>(x.dims(), widened(x), widened(slope), fn), x.dtype()));
  });
}

/// A limit of Clip as T: the attribute before opset 11, then input i; `otherwise` when absent.
template <class T>
T clip_limit(const Call& call, const char* attr, int i, T otherwise) {
  if (call.view.opset() < 11 && call.view.node().domain.empty()) {
    return call.view.has(attr) ? static_cast<T>(call.view.get_float(attr, 0.0f)) : otherwise;
  }
  if (!call.has(i)) return otherwise;
  const Tensor& limit = call.in(i);
  require(call, limit.size() == 1, "a limit must be one number");
  require(call, limit.dtype() == call.in(0).dtype(), "the limits must have the type of the input");
  return widened(limit).template data<T>()[0];
}

void clip(Call& call) {
  const Tensor& x = call.in(0);
  with_number(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const T low = clip_limit<T>(call, "min", 1, std::numeric_limits<T>::lowest());
    const T high = clip_limit<T>(call, "max", 2, std::numeric_limits<T>::max());
    const auto fn = [=](T value) {
      const T raised = value < low ? low : value;
      return raised > high ? high : raised;
    };
    call.set(0, as(map<T, T>(widened(x), fn), x.dtype()));
  });
}

constexpr Kernel kKernels[] = {
    {"", "Celu", celu},
    {"", "Clip", clip},
    {"", "Elu", elu},
    {"", "Gelu", gelu},
    {"", "HardSigmoid", hard_sigmoid},
    {"", "HardSwish", float_op<[](auto x) { return hard_swish(x); }>},
    {"", "LeakyRelu", leaky_relu},
    {"", "Mish", float_op<[](auto x) { return x * std::tanh(softplus(x)); }>},
    {"", "PRelu", prelu},
    {"", "Relu", number_op<[](auto x) { return x < 0 ? decltype(x){0} : x; }>},
    {"", "Selu", selu},
    {"", "Shrink", shrink},
    {"", "Sigmoid", float_op<[](auto x) { return sigmoid(x); }>},
    {"", "Softplus", float_op<[](auto x) { return softplus(x); }>},
    {"", "Softsign", float_op<[](auto x) { return x / (1 + std::fabs(x)); }>},
    {"", "SwiGLU", swiglu},
    {"", "Swish", swish},
    {"", "Tanh", float_op<[](auto x) { return std::tanh(x); }>},
    {"", "ThresholdedRelu", thresholded_relu},
};

}  // namespace

std::span<const Kernel> activation_kernels() { return kKernels; }

}  // namespace mlopt::reference
