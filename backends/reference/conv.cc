#include "backends/reference/conv.h"

#include <fmt/core.h>

#include "backends/reference/columns.h"
#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "backends/reference/named_activation.h"

namespace mlopt::reference {
namespace {

template <class T>
struct Job {
  Window window;
  int64_t batch, groups, channels, filters;  ///< channels and filters of one group
  const T *x, *w, *bias;
  T* y;

  int64_t in_plane() const { return window.in_size(); }
  int64_t out_plane() const { return window.out_size(); }
};

/// Is the matrix of windows the input itself?
bool is_pointwise(const Window& w) {
  const auto all = [](const Dims& dims, int64_t value) {
    return std::all_of(dims.begin(), dims.end(), [=](int64_t d) { return d == value; });
  };
  return all(w.kernel, 1) && all(w.stride, 1) && all(w.begin, 0) && w.in == w.out;
}

/// One group of one sample as a product of matrices: filters x (channels * taps) times the windows.
template <class T>
void group_by_product(const Job<T>& job, int64_t n, int64_t g) {
  const Window& w = job.window;
  const int64_t depth = job.channels * w.kernel_size(), plane = job.out_plane();
  const T* x = job.x + (n * job.groups + g) * job.channels * job.in_plane();
  T* y = job.y + (n * job.groups + g) * job.filters * plane;
  const Strided<T> filters = rows_of(job.w + g * job.filters * depth, depth);
  for (int64_t f = 0; f < job.filters && job.bias; ++f)
    std::fill_n(y + f * plane, plane, job.bias[g * job.filters + f]);
  if (is_pointwise(w))
    return gemm<T>(job.filters, plane, depth, filters, rows_of(x, plane), y, plane, job.bias != nullptr);
  const int64_t step = columns_at_a_time(depth, plane);
  Tensor columns(dtype_of<T>(), {depth, step});
  T* windows = columns.mutable_data<T>();
  for (int64_t from = 0; from < plane; from += step) {
    const int64_t to = std::min(plane, from + step);
    gather_windows(w, job.channels, x, from, to, windows);
    gemm<T>(job.filters, to - from, depth, filters, rows_of(windows, to - from), y + from, plane, job.bias != nullptr);
  }
}

/// One filter with a single input channel: each kernel element adds a shifted plane.
template <class T>
void filter_of_one_channel(const Job<T>& job, int64_t n, int64_t filter) {
  const Window& w = job.window;
  const int64_t taps = w.kernel_size(), plane = job.out_plane(), stride = w.stride.back();
  const T* x = job.x + (n * job.groups + filter / job.filters) * job.in_plane();
  T* y = job.y + (n * job.groups * job.filters + filter) * plane;
  std::fill_n(y, plane, job.bias ? job.bias[filter] : T{0});
  Dims k(w.rank(), 0);
  for (int64_t tap = 0; tap < taps; ++tap, advance(k, w.kernel)) {
    const T weight = job.w[filter * taps + tap];
    for_inside(w, k, 0, plane, [&](int64_t o, int64_t count, int64_t i) {
      T* out = y + o;
      const T* in = x + i;
      if (stride == 1)
        for (int64_t j = 0; j < count; ++j) out[j] += weight * in[j];
      else
        for (int64_t j = 0; j < count; ++j) out[j] += weight * in[j * stride];
    });
  }
}

template <class T>
void run(const Job<T>& job) {
  if (job.channels == 1 && job.groups > 1) {
    const int64_t filters = job.groups * job.filters;
    parallel_for(job.batch * filters, grain_of(job.out_plane() * job.window.kernel_size()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) filter_of_one_channel(job, i / filters, i % filters);
                 });
    return;
  }
  // Many products: one thread each; few: each on all threads.
  const int64_t products = job.batch * job.groups;
  const int64_t work = job.filters * job.out_plane() * job.channels * job.window.kernel_size();
  parallel_for(products, products >= 4 * max_threads() ? grain_of(work) : products, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) group_by_product(job, i / job.groups, i % job.groups);
  });
}

void conv_op(Call& call) {
  const Tensor &x = call.in(0), &w = call.in(1);
  if (x.dtype() != w.dtype()) fail(call, fmt::format("{} convolved with {}", name(x.dtype()), name(w.dtype())));
  const Tensor bias = call.has(2) ? widened(call.in(2)) : Tensor();
  call.set(0, as(convolution(call, widened(x), widened(w), call.has(2) ? &bias : nullptr), x.dtype()));
}

/// com.microsoft's convolution followed by the addition of Z and an activation.
void fused_conv(Call& call) {
  const Tensor& x = call.in(0);
  const Tensor bias = call.has(2) ? widened(call.in(2)) : Tensor();
  const Tensor z = call.has(3) ? widened(call.in(3)) : Tensor();
  const auto activation = fused_activation(call);
  Tensor y = convolution(call, widened(x), widened(call.in(1)), call.has(2) ? &bias : nullptr);
  require(call, !call.has(3) || (z.dims() == y.dims() && z.dtype() == y.dtype()),
          "Z has not the shape and type of the result");
  with_float(call, y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* out = y.mutable_data<T>();
    const T* sum = call.has(3) ? z.data<T>() : nullptr;
    for (int64_t i = 0; i < y.size() && sum; ++i) out[i] += sum[i];
    for (int64_t i = 0; i < y.size() && activation; ++i) out[i] = (*activation)(out[i]);
  });
  call.set(0, as(y, x.dtype()));
}

constexpr Kernel kKernels[] = {
    {"", "Conv", conv_op},
    {"com.microsoft", "FusedConv", fused_conv},
};

}  // namespace

Tensor convolution(const Call& call, const Tensor& x, const Tensor& w, const Tensor* bias) {
  require(call, x.rank() >= 3 && w.rank() == x.rank(), "the input and the weights must have the same rank, 3 or more");
  const int64_t groups = call.view.get_int("group", 1);
  require(call, groups >= 1, "group must be positive");
  if (x.dim(1) != w.dim(1) * groups || w.dim(0) % groups != 0)
    fail(call, fmt::format("{} channels and {} filters of {} channels do not make {} groups", x.dim(1), w.dim(0),
                           w.dim(1), groups));
  require(call, x.dtype() == w.dtype() && (!bias || bias->dtype() == x.dtype()), "operands of different types");
  require(call, !bias || bias->size() == w.dim(0), "the bias must have one element for each filter");
  const Dims kernel(w.dims().begin() + 2, w.dims().end());
  if (call.view.get_ints("kernel_shape", kernel) != kernel)
    fail(call, fmt::format("kernel_shape differs from the weights' {}", to_string(kernel)));
  const Window window = sliding_window(call, x.dims(), kernel);
  Dims dims{x.dim(0), w.dim(0)};
  dims.insert(dims.end(), window.out.begin(), window.out.end());
  Tensor y(x.dtype(), dims);
  if (y.size() == 0) return y;
  with_float(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    run<T>({window, x.dim(0), groups, w.dim(1), w.dim(0) / groups, x.data<T>(), w.data<T>(),
            bias ? bias->data<T>() : nullptr, y.mutable_data<T>()});
  });
  return y;
}

std::span<const Kernel> conv_kernels() { return kKernels; }

}  // namespace mlopt::reference
