#pragma once
#include <algorithm>
#include <functional>

#include "backends/cpu/broadcast.h"
#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// A row of operands that lie side by side or repeat their first element: four loops, for the compiler to make vectors
/// of.
template <class T, class Out, class Fn>
void pairwise_row(const T* a, const T* b, bool a_moves, bool b_moves, Out* out, int64_t n, const Fn& fn) {
  if (a_moves && b_moves)
    for (int64_t i = 0; i < n; ++i) out[i] = fn(a[i], b[i]);
  else if (a_moves)
    for (int64_t i = 0; i < n; ++i) out[i] = fn(a[i], *b);
  else if (b_moves)
    for (int64_t i = 0; i < n; ++i) out[i] = fn(*a, b[i]);
  else
    std::fill_n(out, n, static_cast<Out>(fn(*a, *b)));
}

/// What runs output 0 = fn(input 0, input 1) over their broadcast, of elements T and Out.
template <class T, class Out, class Fn>
std::function<void(const Buffers&)> pairwise(const Paired& p, const Fn& fn) {
  constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings
  return [p, fn](const Buffers& buffers) {
    const T *a = buffers.in<T>(0), *b = buffers.in<T>(1);
    auto* out = buffers.out<Out>(0);
    const bool a_moves = p.strides.back()[0] != 0, b_moves = p.strides.back()[1] != 0;
    for_rows(p, kGrain, [&](int64_t start, int64_t count, int64_t at_a, int64_t at_b) {
      pairwise_row(a + at_a, b + at_b, a_moves, b_moves, out + start, count, fn);
    });
  };
}

}  // namespace mlopt::cpu
