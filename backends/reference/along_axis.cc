#include <functional>
#include <type_traits>

#include "backends/reference/kernels.h"
#include "backends/reference/reduce.h"

namespace mlopt::reference {
namespace {

/// Index of the largest (or smallest) element along an axis; NaN counts as the extreme, as in NumPy.
template <class T, bool kLargest>
int64_t best_index(const T* x, int64_t length, int64_t step, bool last) {
  int64_t best = 0;
  for (int64_t i = 1; i < length; ++i) {
    const T now = x[i * step], before = x[best * step];
    const bool better = kLargest ? now > before : now < before;
    if (better || (now != now && before == before) || (last && now == before)) best = i;
  }
  return best;
}

template <bool kLargest>
void arg_extreme(Call& call) {
  const Tensor& x = call.in(0);
  const int axis = axis_of(call, call.view.get_int("axis", 0), x.rank());
  const AxisView view = around_axis(x.dims(), axis);
  require(call, view.length > 0 || view.outer * view.inner == 0, "an axis without elements has no extreme");
  std::vector<bool> reduced(static_cast<size_t>(x.rank()), false);
  reduced[static_cast<size_t>(axis)] = true;
  Tensor out(DType::kI64, reduced_dims(x.dims(), reduced, call.view.get_int("keepdims", 1) != 0));
  const bool last = call.view.get_int("select_last_index", 0) != 0;
  with_number(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const Tensor wide = widened(x);
    int64_t* o = out.mutable_data<int64_t>();
    for (int64_t row = 0; row < out.size(); ++row) {
      const T* start = wide.data<T>() + row / view.inner * view.length * view.inner + row % view.inner;
      o[row] = best_index<T, kLargest>(start, view.length, view.inner, last);
    }
  });
  call.set(0, std::move(out));
}

/// Running results along an axis, before (`exclusive`) or after each element is taken in, from either end. Floats run
/// in double, integers wrap.
template <class Fn>
void cumulate(Call& call, double start, const Fn& fn) {
  const Tensor& x = call.in(0);
  require(call, call.has(1), "the axis is missing");
  const int axis = axis_of(call, int_in(call, 1, 0), x.rank());
  const AxisView view = around_axis(x.dims(), axis);
  const bool exclusive = call.view.get_int("exclusive", 0) != 0, reverse = call.view.get_int("reverse", 0) != 0;
  with_number(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    using Running = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
    const Tensor wide = widened(x);
    Tensor out(wide.dtype(), x.dims());
    const T* in = wide.data<T>();
    T* o = out.mutable_data<T>();
    for (int64_t row = 0; row < view.outer * view.inner; ++row) {
      const int64_t base = row / view.inner * view.length * view.inner + row % view.inner;
      auto running = static_cast<Running>(start);
      for (int64_t k = 0; k < view.length; ++k) {
        const int64_t at = base + (reverse ? view.length - 1 - k : k) * view.inner;
        const Running before = running;
        running = fn(running, static_cast<Running>(in[at]));
        o[at] = static_cast<T>(exclusive ? before : running);
      }
    }
    call.set(0, as(out, x.dtype()));
  });
}

void cumulative_sum(Call& call) { cumulate(call, 0, std::plus<>{}); }
void cumulative_product(Call& call) { cumulate(call, 1, std::multiplies<>{}); }

constexpr Kernel kKernels[] = {
    {"", "ArgMax", arg_extreme<true>},
    {"", "ArgMin", arg_extreme<false>},
    {"", "CumProd", cumulative_product},
    {"", "CumSum", cumulative_sum},
};

}  // namespace

std::span<const Kernel> along_axis_kernels() { return kKernels; }

}  // namespace mlopt::reference
