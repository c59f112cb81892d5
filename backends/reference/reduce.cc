#include "backends/reference/reduce.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

/// Sums run in double for floats and in wrapping 64 bit arithmetic for integers.
template <class T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

/// Each reducer is handed `each(fn)`, which calls fn(x) for all elements of one output and can be used several times,
/// and the number of elements; it gives the output's value in the compute type T.
struct Sum {
  template <class T, class Each>
  static T reduce(const Each& each, int64_t) {
    Accumulator<T> sum = 0;
    each([&](T x) { sum += static_cast<Accumulator<T>>(x); });
    return static_cast<T>(sum);
  }
};

struct Mean {
  template <class T, class Each>
  static T reduce(const Each& each, int64_t count) {
    if constexpr (std::is_integral_v<T>)
      return count == 0 ? T{0} : static_cast<T>(Sum::reduce<T>(each, count) / static_cast<T>(count));
    double sum = 0;
    each([&](T x) { sum += static_cast<double>(x); });
    return static_cast<T>(sum / static_cast<double>(count));
  }
};

struct Product {
  template <class T, class Each>
  static T reduce(const Each& each, int64_t) {
    Accumulator<T> product = 1;
    each([&](T x) { product *= static_cast<Accumulator<T>>(x); });
    return static_cast<T>(product);
  }
};

struct SumSquare {
  template <class T, class Each>
  static T reduce(const Each& each, int64_t) {
    Accumulator<T> sum = 0;
    each([&](T x) { sum += static_cast<Accumulator<T>>(x) * static_cast<Accumulator<T>>(x); });
    return static_cast<T>(sum);
  }
};

struct L1 {
  template <class T, class Each>
  static T reduce(const Each& each, int64_t) {
    Accumulator<T> sum = 0;
    each([&](T x) { sum += static_cast<Accumulator<T>>(x < 0 ? -x : x); });
    return static_cast<T>(sum);
  }
};

struct L2 {
  template <class T, class Each>
  static T reduce(const Each& each, int64_t) {
    double sum = 0;
    each([&](T x) { sum += static_cast<double>(x) * static_cast<double>(x); });
    return static_cast<T>(std::sqrt(sum));
  }
};

struct LogSum {
  template <class T, class Each>
  static T reduce(const Each& each, int64_t) {
    double sum = 0;
    each([&](T x) { sum += static_cast<double>(x); });
    return static_cast<T>(std::log(sum));
  }
};

/// log(sum(exp(x))) with the largest element taken out, so that nothing overflows.
struct LogSumExp {
  template <class T, class Each>
  static T reduce(const Each& each, int64_t) {
    double most = -std::numeric_limits<double>::infinity();
    each([&](T x) { most = static_cast<double>(x) > most || x != x ? static_cast<double>(x) : most; });
    if (!std::isfinite(most)) return static_cast<T>(most);
    double sum = 0;
    each([&](T x) { sum += std::exp(static_cast<double>(x) - most); });
    return static_cast<T>(std::log(sum) + most);
  }
};

/// The largest (or smallest) element; NaN wins.
template <bool kLargest>
struct Extreme {
  template <class T, class Each>
  static T reduce(const Each& each, int64_t) {
    bool first = true;
    T best{};
    each([&](T x) {
      if (first || (kLargest ? x > best : x < best) || x != x) best = x;
      first = false;
    });
    return best;
  }
};

std::vector<bool> reduced_axes(const Call& call, int rank) {
  const std::vector<int64_t> axes = call.ints("axes", 1);
  if (axes.empty() && call.view.get_int("noop_with_empty_axes", 0) == 0)
    return std::vector<bool>(static_cast<size_t>(rank), true);
  return marked_axes(call, axes, rank);
}

template <class Reducer>
void reduce(Call& call) {
  const Tensor& x = call.in(0);
  const std::vector<bool> reduced = reduced_axes(call, x.rank());
  const Groups groups(x.dims(), reduced);
  with_number(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor wide = widened(x);
    const T* in = wide.data<T>();
    Tensor out(wide.dtype(), reduced_dims(x.dims(), reduced, call.view.get_int("keepdims", 1) != 0));
    T* o = out.mutable_data<T>();
    const int64_t grain = 1 + 16384 / std::max<int64_t>(1, groups.count());
    parallel_for(groups.outputs(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k)
        o[k] = Reducer::template reduce<T>([&](const auto& fn) { groups.each(k, [&](int64_t i) { fn(in[i]); }); },
                                           groups.count());
    });
    call.set(0, as(out, x.dtype()));
  });
}

/// The maximum (or minimum) of nothing: the smallest (largest) value of the type.
Tensor empty_extreme(DType type, Dims dims, bool largest) {
  if (is_float(type)) {
    Tensor out(DType::kF64, std::move(dims));
    const double infinity = std::numeric_limits<double>::infinity();
    std::fill_n(out.mutable_data<double>(), out.size(), largest ? -infinity : infinity);
    return as(out, type);
  }
  const int unused = 64 - bits(type);
  const int64_t least = is_signed(type) ? INT64_MIN >> unused : 0;
  const int64_t most = is_signed(type) ? INT64_MAX >> unused : -1;  // wraps to all ones
  Tensor out(DType::kI64, std::move(dims));
  std::fill_n(out.mutable_data<int64_t>(), out.size(), largest ? least : most);
  return as(out, type);
}

template <bool kLargest>
void reduce_extreme(Call& call) {
  const Tensor& x = call.in(0);
  if (x.size() != 0) return reduce<Extreme<kLargest>>(call);
  const std::vector<bool> reduced = reduced_axes(call, x.rank());
  call.set(0,
           empty_extreme(x.dtype(), reduced_dims(x.dims(), reduced, call.view.get_int("keepdims", 1) != 0), kLargest));
}

constexpr Kernel kKernels[] = {
    {"", "ReduceL1", reduce<L1>},
    {"", "ReduceL2", reduce<L2>},
    {"", "ReduceLogSum", reduce<LogSum>},
    {"", "ReduceLogSumExp", reduce<LogSumExp>},
    {"", "ReduceMax", reduce_extreme<true>},
    {"", "ReduceMean", reduce<Mean>},
    {"", "ReduceMin", reduce_extreme<false>},
    {"", "ReduceProd", reduce<Product>},
    {"", "ReduceSum", reduce<Sum>},
    {"", "ReduceSumSquare", reduce<SumSquare>},
};

}  // namespace

Groups::Groups(const Dims& dims, const std::vector<bool>& reduced) {
  const Dims strides = row_major_strides(dims);
  bool open = false, last = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    (reduced[i] ? count_ : outputs_) *= dims[i];
    auto& list = reduced[i] ? reduced_ : kept_;
    if (open && last == reduced[i])
      list.back() = {list.back().length * dims[i], strides[i]};
    else
      list.push_back({dims[i], strides[i]});
    last = reduced[i];
    open = true;
  }
  if (reduced_.empty()) reduced_.push_back({1, 0});
}

std::vector<bool> marked_axes(const Call& call, const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> marked(static_cast<size_t>(rank), false);
  for (const int64_t axis : axes) marked[static_cast<size_t>(axis_of(call, axis, rank))] = true;
  return marked;
}

Dims reduced_dims(const Dims& dims, const std::vector<bool>& reduced, bool keep) {
  Dims out;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!reduced[i])
      out.push_back(dims[i]);
    else if (keep)
      out.push_back(1);
  }
  return out;
}

std::span<const Kernel> reduce_kernels() { return kKernels; }

}  // namespace mlopt::reference
