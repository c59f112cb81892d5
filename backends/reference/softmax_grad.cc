#include <cmath>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "core/base/parallel.h"

namespace mlopt::reference {
namespace {

/// Inputs y, what (Log)Softmax along `axis` gave, and dy: dx = fn(y, dy, sum over the line of term(y, dy)).
template <class Term, class Fn>
void each_line(Call& call, const Term& term, const Fn& fn) {
  const Tensor y = widened(call.in(0)), grad = widened(call.in(1));
  require(call, y.dims() == grad.dims() && y.dtype() == grad.dtype(), "the inputs must be of one type");
  const AxisView view = around_axis(y.dims(), axis_of(call, call.view.get_int("axis", -1), y.rank()));
  Tensor out(y.dtype(), y.dims());
  with_float(call, y.dtype(), [&](auto tag) {
    using T = decltype(tag);
    T* dx_data = out.mutable_data<T>();
    parallel_for(view.outer * view.inner, 1 + 4096 / std::max<int64_t>(1, view.length),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t row = begin; row < end; ++row) {
                     const int64_t base = row / view.inner * view.length * view.inner + row % view.inner;
                     const T *at = y.data<T>() + base, *dy = grad.data<T>() + base;
                     T* dx = dx_data + base;
                     const int64_t past = view.length * view.inner;
                     double sum = 0;
                     for (int64_t i = 0; i < past; i += view.inner)
                       sum += term(static_cast<double>(at[i]), static_cast<double>(dy[i]));
                     for (int64_t i = 0; i < past; i += view.inner)
                       dx[i] = static_cast<T>(fn(static_cast<double>(at[i]), static_cast<double>(dy[i]), sum));
                   }
                 });
  });
  call.set(0, as(out, call.in(0).dtype()));
}

void softmax_grad(Call& call) {
  each_line(
      call, [](double y, double dy) { return y * dy; }, [](double y, double dy, double sum) { return y * (dy - sum); });
}

void log_softmax_grad(Call& call) {
  each_line(
      call, [](double, double dy) { return dy; },
      [](double y, double dy, double sum) { return dy - std::exp(y) * sum; });
}

constexpr Kernel kKernels[] = {
    {"mlopt", "LogSoftmaxGrad", log_softmax_grad},
    {"mlopt", "SoftmaxGrad", softmax_grad},
};

}  // namespace

std::span<const Kernel> softmax_grad_kernels() { return kKernels; }

}  // namespace mlopt::reference
