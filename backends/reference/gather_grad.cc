#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

/// Inputs: indices, and dy as Gather along `axis` of a tensor of `shape` gave it. Each slice of dy is added where it
/// was taken from; an index behind the axis goes nowhere.
void gather_grad(Call& call) {
  const Tensor& grad = call.in(1);
  const Dims shape = call.view.get_ints("shape");
  const AxisView view =
      around_axis(shape, axis_of(call, call.view.get_int("axis", 0), static_cast<int64_t>(shape.size())));
  std::vector<int64_t> places = to_ints(call.in(0));
  const auto count = static_cast<int64_t>(places.size());
  require(call, grad.size() == view.outer * count * view.inner, "dy does not fit shape and indices");
  with_float(call, grad.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor wide = widened(grad);
    Tensor out = Tensor::zeros(wide.dtype(), shape);
    T* o = out.mutable_data<T>();
    for (int64_t outer = 0; outer < view.outer; ++outer)
      for (int64_t k = 0; k < count; ++k) {
        const int64_t place = places[static_cast<size_t>(k)], at = place < 0 ? place + view.length : place;
        if (at < 0 || at >= view.length) continue;
        const T* from = wide.data<T>() + (outer * count + k) * view.inner;
        T* to = o + (outer * view.length + at) * view.inner;
        for (int64_t i = 0; i < view.inner; ++i) to[i] += from[i];
      }
    call.set(0, as(out, grad.dtype()));
  });
}

constexpr Kernel kKernels[] = {{"mlopt", "GatherGrad", gather_grad}};

}  // namespace

std::span<const Kernel> gather_grad_kernels() { return kKernels; }

}  // namespace mlopt::reference
