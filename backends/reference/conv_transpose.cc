#include <fmt/core.h>

#include "backends/reference/columns.h"
#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

/// The window of the convolution whose transpose this is: it slides over the output (`in`) and has one place for each
/// element of the input (`out`).
Window transposed_window(const Call& call, const Dims& input, const Dims& kernel) {
  const size_t rank = input.size() - 2;
  Window w;
  w.out.assign(input.begin() + 2, input.end());
  w.kernel = kernel;
  w.stride = spatial_attribute(call, "strides", rank, 1, 1);
  w.dilation = spatial_attribute(call, "dilations", rank, 1, 1);
  const Dims pads = spatial_attribute(call, "pads", 2 * rank, 0, 0);
  const Dims extra = spatial_attribute(call, "output_padding", rank, 0, 0);
  Dims wanted = call.view.get_ints("output_shape");
  if (wanted.size() == rank + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != rank) fail(call, "output_shape must have one entry for each spatial axis");
  const std::string mode = call.view.get_string("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  w.in = w.begin = w.end = Dims(rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    if (extra[i] != 0 && extra[i] >= std::max(w.stride[i], w.dilation[i]))
      fail(call, fmt::format("output_padding {} is not below the stride", extra[i]));
    const int64_t reach = w.stride[i] * (w.out[i] - 1) + extra[i] + w.extent(i);
    if (wanted.empty() && !same) {
      w.begin[i] = mode == "VALID" ? 0 : pads[i];
      w.end[i] = mode == "VALID" ? 0 : pads[rank + i];
      w.in[i] = reach - w.begin[i] - w.end[i];
    } else {
      w.in[i] = wanted.empty() ? w.out[i] * w.stride[i] : wanted[i];
      const int64_t total = std::max<int64_t>(0, reach - w.in[i]);
      w.begin[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.end[i] = total - w.begin[i];
    }
    if (w.in[i] < 0 || w.in[i] > std::max<int64_t>(reach, 0) + w.stride[i] + w.dilation[i])
      fail(call, fmt::format("an output of {} elements where the kernel reaches {}", w.in[i], reach));
  }
  return w;
}

template <class T>
struct Job {
  Window window;
  int64_t batch, groups, channels, filters;  ///< channels and filters of one group
  const T *x, *w, *bias;
  T* y;
};

/// Adds the products of inputs [from, to), one row for each (filter, kernel element), where they land in the output.
template <class T>
void scatter(const Job<T>& job, const T* products, int64_t from, int64_t to, T* y) {
  const Window& w = job.window;
  const int64_t taps = w.kernel_size(), width = to - from, stride = w.stride.back(), plane = w.in_size();
  parallel_for(job.filters, grain_of(taps * width), [&](int64_t begin, int64_t end) {
    for (int64_t f = begin; f < end; ++f) {
      Dims k(w.rank(), 0);
      for (int64_t tap = 0; tap < taps; ++tap, advance(k, w.kernel)) {
        const T* row = products + (f * taps + tap) * width;
        for_inside(w, k, from, to, [&](int64_t i, int64_t count, int64_t o) {
          T* out = y + f * plane + o;
          for (int64_t j = 0; j < count; ++j) out[j * stride] += row[i - from + j];
        });
      }
    }
  });
}

template <class T>
void run(const Job<T>& job) {
  const Window& w = job.window;
  const int64_t rows = job.filters * w.kernel_size(), in_plane = w.out_size(), out_plane = w.in_size();
  const int64_t step = columns_at_a_time(rows, in_plane);
  Tensor products(dtype_of<T>(), {rows, step});
  T* columns = products.mutable_data<T>();
  for (int64_t i = 0; i < job.batch * job.groups; ++i) {
    const int64_t g = i % job.groups;
    const T* x = job.x + i * job.channels * in_plane;
    T* y = job.y + i * job.filters * out_plane;
    for (int64_t f = 0; f < job.filters; ++f)
      std::fill_n(y + f * out_plane, out_plane, job.bias ? job.bias[g * job.filters + f] : T{0});
    for (int64_t from = 0; from < in_plane; from += step) {
      const int64_t to = std::min(in_plane, from + step);
      gemm<T>(rows, to - from, job.channels, transpose_of(job.w + g * job.channels * rows, rows),
              rows_of(x + from, in_plane), columns, to - from);
      scatter(job, columns, from, to, y);
    }
  }
}

void conv_transpose_op(Call& call) {
  const Tensor x = widened(call.in(0)), w = widened(call.in(1));
  const Tensor bias = call.has(2) ? as(call.in(2), x.dtype()) : Tensor();
  require(call, x.rank() >= 3 && w.rank() == x.rank(), "the input and the weights must have the same rank, 3 or more");
  require(call, x.dtype() == w.dtype(), "the input and the weights have different types");
  const int64_t groups = call.view.get_int("group", 1);
  if (groups < 1 || x.dim(1) != w.dim(0) || x.dim(1) % groups != 0)
    fail(call, fmt::format("{} channels and weights of {} make no {} groups", x.dim(1), to_string(w.dims()), groups));
  const Dims kernel(w.dims().begin() + 2, w.dims().end());
  if (call.view.get_ints("kernel_shape", kernel) != kernel || element_count(kernel) == 0)
    fail(call, fmt::format("kernel_shape differs from the weights' {}", to_string(kernel)));
  const int64_t filters = w.dim(1) * groups;
  require(call, !call.has(2) || bias.size() == filters, "the bias must have one element for each filter");
  const Window window = transposed_window(call, x.dims(), kernel);
  Dims dims{x.dim(0), filters};
  dims.insert(dims.end(), window.in.begin(), window.in.end());
  Tensor y(x.dtype(), dims);
  with_float(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (y.size() == 0) return;
    run<T>({window, x.dim(0), groups, x.dim(1) / groups, w.dim(1), x.data<T>(), w.data<T>(),
            call.has(2) ? bias.data<T>() : nullptr, y.mutable_data<T>()});
  });
  call.set(0, as(y, call.in(0).dtype()));
}

constexpr Kernel kKernels[] = {{"", "ConvTranspose", conv_transpose_op}};

}  // namespace

std::span<const Kernel> conv_transpose_kernels() { return kKernels; }

}  // namespace mlopt::reference
