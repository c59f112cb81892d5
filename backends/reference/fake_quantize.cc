// Quantization that stays in floats, for training: see core/autodiff/rules/quantize.cc.
#include <algorithm>
#include <cmath>

#include "backends/reference/kernels.h"
#include "backends/reference/map.h"

namespace mlopt::reference {
namespace {

/// Steps and codes of a tensor: one step (the logarithm is stored), or one for each index of `axis`.
struct Steps {
  std::vector<double> size;
  int64_t inner = 1;
  double low = 0, high = 0;
  bool odd = false;

  double at(int64_t i) const { return size[static_cast<size_t>(i / inner) % size.size()]; }
  /// The step's multiple nearest to v = x / step, or the odd one.
  double code(double v) const { return std::clamp(odd ? 2 * std::floor(v / 2) + 1 : std::nearbyint(v), low, high); }
  bool passes(double v) const { return v >= low - odd && v <= high + odd; }
};

Steps steps_of(const Call& call) {
  const Tensor& x = call.in(0);
  Steps steps;
  for (const double log : to_doubles(call.in(1))) steps.size.push_back(std::exp(log));
  steps.low = static_cast<double>(call.view.get_int("low", 0));
  steps.high = static_cast<double>(call.view.get_int("high", 0));
  steps.odd = call.view.get_int("odd", 0) != 0;
  if (call.in(1).rank() == 0) return steps;
  const int64_t axis = call.view.get_int("axis", 0);
  require(call,
          axis >= 0 && axis < x.rank() && call.in(1).rank() == 1 && x.dim(static_cast<int>(axis)) == call.in(1).size(),
          "the steps must be one, or one for each index of the axis");
  for (int k = static_cast<int>(axis) + 1; k < x.rank(); ++k) steps.inner *= x.dim(k);
  return steps;
}

/// Inputs x and log(step): clamp(round(x / step), low, high) * step.
void fake_quantize(Call& call) {
  const Tensor& x = call.in(0);
  const Steps steps = steps_of(call);
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor in = widened(x);
    Tensor out(in.dtype(), x.dims());
    for (int64_t i = 0; i < x.size(); ++i) {
      const double step = steps.at(i);
      out.mutable_data<T>()[i] = static_cast<T>(steps.code(static_cast<double>(in.data<T>()[i]) / step) * step);
    }
    call.set(0, as(out, x.dtype()));
  });
}

/// Inputs x, log(step) and dy: dx, and `share` times the sum of dy (code - x / step where it is not clamped) / step.
void fake_quantize_grad(Call& call) {
  const Tensor& x = call.in(0);
  require(call, x.dims() == call.in(2).dims() && x.dtype() == call.in(2).dtype(), "the inputs must be of one type");
  const Steps steps = steps_of(call);
  const double share = call.view.get_float("share", 1);
  std::vector<double> sums(steps.size.size());
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor in = widened(x), grad = widened(call.in(2));
    Tensor out(in.dtype(), x.dims());
    for (int64_t i = 0; i < x.size(); ++i) {
      const double dy = static_cast<double>(grad.data<T>()[i]), v = static_cast<double>(in.data<T>()[i]) / steps.at(i);
      const bool inside = steps.passes(v);
      sums[static_cast<size_t>(i / steps.inner) % sums.size()] += dy * (steps.code(v) - (inside ? v : 0));
      out.mutable_data<T>()[i] = static_cast<T>(inside ? dy : 0);
    }
    call.set(0, as(out, x.dtype()));
  });
  for (size_t c = 0; c < sums.size(); ++c) sums[c] *= share / steps.size[c];
  call.set(1, as(Tensor::of<double>(call.in(1).dims(), sums), call.in(1).dtype()));
}

constexpr Kernel kKernels[] = {{"mlopt", "FakeQuantize", fake_quantize},
                               {"mlopt", "FakeQuantizeGrad", fake_quantize_grad}};

}  // namespace

std::span<const Kernel> fake_quantize_kernels() { return kKernels; }

}  // namespace mlopt::reference
