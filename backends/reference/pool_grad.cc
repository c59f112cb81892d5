#include <cmath>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "backends/reference/pool.h"

namespace mlopt::reference {
namespace {

/// Adds the gradient of each window's output to the inputs that it covers: spread(x of the plane, gradients of the
/// plane's inputs, covers of the window, dy).
template <class Spread>
void each_window(Call& call, const Spread& spread) {
  const Tensor x = widened(call.in(0)), grad = widened(call.in(1));
  const Window w = pool_window(call, x);
  require(call, grad.dims() == pooled_dims(x, w) && grad.dtype() == x.dtype(), "dy does not fit x and the window");
  Tensor out = Tensor::zeros(x.dtype(), x.dims());
  with_float(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *in = x.data<T>(), *dy = grad.data<T>();
    T* dx = out.mutable_data<T>();
    const int64_t in_plane = w.in_size(), out_plane = w.out_size();
    for_windows(w, x.dim(0) * x.dim(1), [&](int64_t plane, int64_t flat, const std::vector<Cover>& at) {
      spread(w, in + plane * in_plane, dx + plane * in_plane, at, static_cast<double>(dy[plane * out_plane + flat]));
    });
  });
  call.set(0, as(out, call.in(0).dtype()));
}

template <class T>
void add(T& sum, double term) {
  sum = static_cast<T>(static_cast<double>(sum) + term);
}

/// The first of the largest gets it.
void max_pool_grad(Call& call) {
  each_window(call, [](const Window& w, const auto* x, auto* dx, const std::vector<Cover>& at, double dy) {
    int64_t best = -1;
    for_covered(w, at, [&](int64_t i) {
      if (best < 0 || x[i] > x[best] || (x[i] != x[i] && x[best] == x[best])) best = i;
    });
    if (best >= 0) add(dx[best], dy);
  });
}

void average_pool_grad(Call& call) {
  each_window(call, [&](const Window& w, const auto*, auto* dx, const std::vector<Cover>& at, double dy) {
    const double share = dy / average_divisor(call, at);
    for_covered(w, at, [&](int64_t i) { add(dx[i], share); });
  });
}

/// y = (sum |x|^p)^(1/p): dy * sign(x) * (|x| / y)^(p - 1), 0 where y is.
void lp_pool_grad(Call& call) {
  const double p = lp_exponent(call);
  each_window(call, [p](const Window& w, const auto* x, auto* dx, const std::vector<Cover>& at, double dy) {
    double sum = 0;
    for_covered(w, at, [&](int64_t i) { sum += std::pow(std::fabs(static_cast<double>(x[i])), p); });
    if (sum == 0) return;
    const double y = std::pow(sum, 1 / p);
    for_covered(w, at, [&](int64_t i) {
      const auto v = static_cast<double>(x[i]);
      add(dx[i], dy * std::copysign(std::pow(std::fabs(v) / y, p - 1), v));
    });
  });
}

/// Inputs: a pool's x and dy; its attributes.
constexpr Kernel kKernels[] = {
    {"mlopt", "AveragePoolGrad", average_pool_grad},
    {"mlopt", "LpPoolGrad", lp_pool_grad},
    {"mlopt", "MaxPoolGrad", max_pool_grad},
};

}  // namespace

std::span<const Kernel> pool_grad_kernels() { return kKernels; }

}  // namespace mlopt::reference
