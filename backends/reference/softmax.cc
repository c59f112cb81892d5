#include "backends/reference/softmax.h"

#include <cmath>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "core/base/parallel.h"

namespace mlopt::reference {
namespace {

/// Opset 13 works along one axis; before, all axes from `axis` on were one. (com.microsoft's quantized form keeps the
/// opset of its origin in an attribute.)
AxisView softmax_view(const Call& call, const Dims& dims) {
  const int rank = static_cast<int>(dims.size());
  const bool flat = (call.view.node().domain.empty() ? call.view.opset() : call.view.get_int("opset", 13)) < 13;
  if (rank == 0) return {};
  const int64_t given = call.view.get_int("axis", flat ? 1 : -1);
  if (!flat) return around_axis(dims, axis_of(call, given, rank));
  const int axis =
      given == rank ? rank : axis_of(call, given, rank);  // the default of a tensor of rank 1: lines of one element
  AxisView view;
  for (int i = 0; i < rank; ++i) (i < axis ? view.outer : view.length) *= dims[static_cast<size_t>(i)];
  return view;
}

/// fn(in, out, length, step) for each line along the axis.
template <class Fn>
void each_line(Call& call, const Fn& fn) {
  const Tensor& x = call.in(0);
  const AxisView view = softmax_view(call, x.dims());
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor wide = widened(x);
    const T* in = wide.data<T>();
    Tensor out(wide.dtype(), x.dims());
    T* o = out.mutable_data<T>();
    const int64_t grain = 1 + 4096 / std::max<int64_t>(1, view.length);
    parallel_for(view.outer * view.inner, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t base = row / view.inner * view.length * view.inner + row % view.inner;
        fn(in + base, o + base, view.length, view.inner);
      }
    });
    call.set(0, as(out, x.dtype()));
  });
}

void softmax(Call& call) {
  each_line(call, [](const auto* x, auto* y, int64_t length, int64_t step) { softmax_line(x, y, length, step); });
}

void log_softmax(Call& call) {
  each_line(call, [](const auto* x, auto* y, int64_t length, int64_t step) { log_softmax_line(x, y, length, step); });
}

/// One at the first largest element, zero elsewhere.
void hardmax(Call& call) {
  each_line(call, [](const auto* x, auto* y, int64_t length, int64_t step) {
    int64_t best = 0;
    for (int64_t i = 0; i < length; ++i) {
      y[i * step] = 0;
      if (x[i * step] > x[best * step]) best = i;
    }
    if (length > 0) y[best * step] = 1;
  });
}

constexpr Kernel kKernels[] = {
    {"", "Hardmax", hardmax},
    {"", "LogSoftmax", log_softmax},
    {"", "Softmax", softmax},
};

}  // namespace

std::span<const Kernel> softmax_kernels() { return kKernels; }

}  // namespace mlopt::reference
