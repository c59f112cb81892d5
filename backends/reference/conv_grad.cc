#include <fmt/core.h>

#include "backends/reference/columns.h"
#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

template <class T>
struct Job {
  Window window;
  int64_t batch, groups, channels, filters;  ///< channels and filters of one group
  const T *x, *grad;
  T* out;
};

/// One group of the weights: the sum over the batch of dy [filters, places] times the windows [channels * taps, places]
/// transposed.
template <class T>
void group(const Job<T>& job, int64_t g) {
  const Window& w = job.window;
  const int64_t depth = job.channels * w.kernel_size(), plane = w.out_size(), step = columns_at_a_time(depth, plane);
  Tensor columns(dtype_of<T>(), {depth, step});
  T* windows = columns.mutable_data<T>();
  for (int64_t n = 0; n < job.batch; ++n) {
    const T* x = job.x + (n * job.groups + g) * job.channels * w.in_size();
    const T* grad = job.grad + (n * job.groups + g) * job.filters * plane;
    for (int64_t from = 0; from < plane; from += step) {
      const int64_t width = std::min(plane - from, step);
      gather_windows(w, job.channels, x, from, from + width, windows);
      gemm<T>(job.filters, depth, width, rows_of(grad + from, plane), transpose_of(windows, width),
              job.out + g * job.filters * depth, depth, true);
    }
  }
}

/// Inputs: a convolution's x [N, C, spatial...] and dy [N, M, places...]; its attributes, and the weights' `shape`
/// [M, C / group, kernel...]: the gradient of the weights.
void conv_grad_weight(Call& call) {
  const Tensor x = widened(call.in(0)), grad = widened(call.in(1));
  const Dims shape = call.view.get_ints("shape");
  require(call, x.dtype() == grad.dtype(), "x and dy have different types");
  require(call, x.rank() >= 3 && grad.rank() == x.rank() && shape.size() == x.dims().size(),
          "x, dy and the weights must have the same rank, 3 or more");
  const int64_t groups = call.view.get_int("group", 1);
  if (groups < 1 || shape[0] % groups != 0 || x.dim(1) != shape[1] * groups)
    fail(call, fmt::format("{} channels and weights of {} make no {} groups", x.dim(1), to_string(shape), groups));
  const Window window = sliding_window(call, x.dims(), Dims(shape.begin() + 2, shape.end()));
  Dims places{x.dim(0), shape[0]};
  places.insert(places.end(), window.out.begin(), window.out.end());
  if (grad.dims() != places)
    fail(call, fmt::format("dy has shape {}, not {}", to_string(grad.dims()), to_string(places)));
  Tensor out = Tensor::zeros(x.dtype(), shape);
  if (out.size() > 0 && grad.size() > 0)
    with_float(call, x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const Job<T> job{
          window, x.dim(0), groups, shape[1], shape[0] / groups, x.data<T>(), grad.data<T>(), out.mutable_data<T>()};
      parallel_for(groups, groups >= 4 * max_threads() ? 1 : groups, [&](int64_t begin, int64_t end) {
        for (int64_t g = begin; g < end; ++g) group(job, g);
      });
    });
  call.set(0, as(out, call.in(0).dtype()));
}

constexpr Kernel kKernels[] = {{"mlopt", "ConvGradWeight", conv_grad_weight}};

}  // namespace

std::span<const Kernel> conv_grad_kernels() { return kKernels; }

}  // namespace mlopt::reference
