#pragma once
#include "backends/reference/compute.h"
#include "core/base/parallel.h"

namespace mlopt::reference {

/// out[i] = fn(x[i]); `x` holds elements of type In.
template <class Out, class In, class Fn>
Tensor map(const Tensor& x, const Fn& fn) {
  Tensor out(dtype_of<Out>(), x.dims());
  Out* o = out.mutable_data<Out>();
  const In* in = x.data<In>();
  parallel_for(x.size(), 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) o[i] = fn(in[i]);
  });
  return out;
}

/// Output 0 = fn of each element of input 0, which must be a float tensor, in its compute type.
template <class Fn>
void map_floats(Call& call, const Fn& fn) {
  const Tensor& x = call.in(0);
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    call.set(0, as(map<T, T>(widened(x), fn), x.dtype()));
  });
}

/// As map_floats for any numeric tensor; integers are computed in 64 bits and wrap.
template <class Fn>
void map_numbers(Call& call, const Fn& fn) {
  const Tensor& x = call.in(0);
  with_number(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    call.set(0, as(map<T, T>(widened(x), fn), x.dtype()));
  });
}

/// Kernels of functions without attributes: `float_op<[](auto x) { return std::exp(x); }>`.
template <auto kFn>
void float_op(Call& call) {
  map_floats(call, kFn);
}
template <auto kFn>
void number_op(Call& call) {
  map_numbers(call, kFn);
}

}  // namespace mlopt::reference
