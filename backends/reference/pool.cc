#include "backends/reference/pool.h"

#include <cmath>
#include <limits>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

/// Turns a row-major index within a plane into a column-major one (the first spatial axis fastest).
int64_t column_major(const Window& w, int64_t index) {
  int64_t result = 0, step = w.in_size();
  for (size_t axis = w.rank(); axis-- > 0; index /= w.in[axis]) {
    step /= w.in[axis];
    result += index % w.in[axis] * step;
  }
  return result;
}

template <class T>
void max_pool(Call& call, const Tensor& x) {
  const Window w = pool_window(call, x);
  const bool by_columns = call.view.get_int("storage_order", 0) != 0;
  Tensor y(x.dtype(), pooled_dims(x, w));
  Tensor indices(DType::kI64, call.wants(1) ? y.dims() : Dims{0});
  const T* in = x.data<T>();
  T* out = y.mutable_data<T>();
  int64_t* index = call.wants(1) ? indices.mutable_data<int64_t>() : nullptr;
  const int64_t in_plane = w.in_size(), out_plane = w.out_size();
  for_windows(w, x.dim(0) * x.dim(1), [&](int64_t plane, int64_t flat, const std::vector<Cover>& at) {
    const T* p = in + plane * in_plane;
    int64_t best = -1;
    // The first of equals wins; a NaN stays.
    for_covered(w, at, [&](int64_t i) {
      if (best < 0 || p[i] > p[best] || (p[i] != p[i] && p[best] == p[best])) best = i;
    });
    constexpr T kLowest =
        std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
    out[plane * out_plane + flat] = best < 0 ? kLowest : p[best];
    if (!index) return;
    const int64_t place = by_columns && best >= 0 ? column_major(w, best) : best;
    index[plane * out_plane + flat] = plane * in_plane + place;
  });
  call.set(0, as(y, call.in(0).dtype()));
  if (call.wants(1)) call.set(1, indices);
}

void max_pool_op(Call& call) {
  const Tensor& x = call.in(0);
  if (x.dtype() == DType::kI8) return max_pool<int8_t>(call, x);
  if (x.dtype() == DType::kU8) return max_pool<uint8_t>(call, x);
  with_float(call, x.dtype(), [&](auto zero) { max_pool<decltype(zero)>(call, widened(x)); });
}

/// y = finish(sum over the window of term(x), covers), summed in double.
template <class Term, class Finish>
void sum_pool(Call& call, const Window& w, const Term& term, const Finish& finish) {
  const Tensor x = widened(call.in(0));
  Tensor y(x.dtype(), pooled_dims(x, w));
  with_float(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* in = x.data<T>();
    T* out = y.mutable_data<T>();
    const int64_t in_plane = w.in_size(), out_plane = w.out_size();
    for_windows(w, x.dim(0) * x.dim(1), [&](int64_t plane, int64_t flat, const std::vector<Cover>& at) {
      const T* p = in + plane * in_plane;
      double sum = 0;
      for_covered(w, at, [&](int64_t i) { sum += term(static_cast<double>(p[i])); });
      out[plane * out_plane + flat] = static_cast<T>(finish(sum, at));
    });
  });
  call.set(0, as(y, call.in(0).dtype()));
}

void average_pool_op(Call& call) {
  sum_pool(
      call, pool_window(call, call.in(0)), [](double v) { return v; },
      [&](double sum, const std::vector<Cover>& at) {
        const double elements = average_divisor(call, at);
        return elements > 0 ? sum / elements : 0.0;
      });
}

void lp_norm_pool(Call& call, const Window& w) {
  const double p = lp_exponent(call);
  if (p == 2)
    return sum_pool(
        call, w, [](double v) { return v * v; }, [](double s, const auto&) { return std::sqrt(s); });
  sum_pool(
      call, w, [p](double v) { return std::pow(std::abs(v), p); },
      [p](double s, const auto&) { return std::pow(s, 1 / p); });
}

void lp_pool_op(Call& call) { lp_norm_pool(call, pool_window(call, call.in(0))); }

/// One window over everything.
Window global_window(const Call& call) {
  const Dims& dims = call.in(0).dims();
  require(call, dims.size() >= 3, "a global pool needs spatial axes");
  Window w;
  w.in = w.kernel = Dims(dims.begin() + 2, dims.end());
  w.stride = w.dilation = w.out = Dims(w.in.size(), 1);
  w.begin = w.end = Dims(w.in.size(), 0);
  return w;
}

void global_average_pool_op(Call& call) {
  const Window w = global_window(call);
  const auto elements = static_cast<double>(w.in_size());
  sum_pool(
      call, w, [](double v) { return v; }, [&](double sum, const auto&) { return sum / elements; });
}

void global_max_pool_op(Call& call) {
  const Window w = global_window(call);
  const Tensor x = widened(call.in(0));
  Tensor y(x.dtype(), pooled_dims(x, w));
  with_float(call, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* in = x.data<T>();
    T* out = y.mutable_data<T>();
    const int64_t plane = w.in_size();
    for (int64_t i = 0; i < y.size(); ++i, in += plane) {
      out[i] = -std::numeric_limits<T>::infinity();
      for (int64_t j = 0; j < plane; ++j) out[i] = in[j] > out[i] || in[j] != in[j] ? in[j] : out[i];
    }
  });
  call.set(0, as(y, call.in(0).dtype()));
}

void global_lp_pool_op(Call& call) { lp_norm_pool(call, global_window(call)); }

constexpr Kernel kKernels[] = {
    {"", "MaxPool", max_pool_op},
    {"", "AveragePool", average_pool_op},
    {"", "LpPool", lp_pool_op},
    {"", "GlobalAveragePool", global_average_pool_op},
    {"", "GlobalMaxPool", global_max_pool_op},
    {"", "GlobalLpPool", global_lp_pool_op},
};

}  // namespace

std::vector<std::vector<Cover>> covers(const Window& w) {
  std::vector<std::vector<Cover>> all(w.rank());
  for (size_t axis = 0; axis < w.rank(); ++axis) {
    const int64_t dilation = w.dilation[axis];
    for (int64_t o = 0; o < w.out[axis]; ++o) {
      const int64_t start = o * w.stride[axis] - w.begin[axis];
      const auto elements_before = [&](int64_t end) {
        return end <= start ? int64_t{0} : std::min(w.kernel[axis], (end - start + dilation - 1) / dilation);
      };
      const int64_t skipped = elements_before(0);
      Cover c;
      c.first = start + skipped * dilation;
      c.count = std::max<int64_t>(0, elements_before(w.in[axis]) - skipped);
      c.padded = elements_before(w.in[axis] + w.end[axis]);
      all[axis].push_back(c);
    }
  }
  return all;
}

Window pool_window(const Call& call, const Tensor& x) {
  return sliding_window(call, x.dims(), call.view.get_ints("kernel_shape"));
}

Dims pooled_dims(const Tensor& x, const Window& w) {
  Dims dims{x.dim(0), x.dim(1)};
  dims.insert(dims.end(), w.out.begin(), w.out.end());
  return dims;
}

double average_divisor(const Call& call, const std::vector<Cover>& at) {
  const bool with_padding = call.view.get_int("count_include_pad", 0) != 0;
  double elements = 1;
  for (const Cover& c : at) elements *= static_cast<double>(with_padding ? c.padded : c.count);
  return elements;
}

double lp_exponent(const Call& call) {
  const double p = call.view.node().domain.empty() && call.view.opset() < 2
                       ? call.view.get_float("p", 2)
                       : static_cast<double>(call.view.get_int("p", 2));
  require(call, p > 0, "p must be positive");
  return p;
}

std::span<const Kernel> pool_kernels() { return kKernels; }

}  // namespace mlopt::reference
