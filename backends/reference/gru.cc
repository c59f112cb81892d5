#include "backends/reference/kernels.h"
#include "backends/reference/recurrent.h"

namespace mlopt::reference {
namespace {

/// The gates in the order in which the weights hold them.
enum { kUpdate, kReset, kNew };

template <class T>
void run_gru(Call& call, const Recurrent& r) {
  const RecurrentWeights<T> weights(call, r);
  const bool linear_first = call.view.get_int("linear_before_reset", 0) != 0;
  const int64_t hidden = r.hidden, gates = 3 * hidden;
  std::vector<T> sum(static_cast<size_t>(r.batch * gates)), update(static_cast<size_t>(r.batch * hidden)),
      gated(update);
  run_recurrent<T>(call, r, weights, false, [&](int64_t d, const T* x, T* h, T*) {
    const Activation &f = r.activations[static_cast<size_t>(2 * d)], &g = r.activations[static_cast<size_t>(2 * d + 1)];
    weights.recur(d, kUpdate, linear_first ? 3 : 2, h, sum.data());
    for (int64_t b = 0; b < r.batch; ++b) {
      for (int64_t i = 0; i < hidden; ++i) {
        const int64_t at = b * hidden + i, z = b * gates + i, reset = z + kReset * hidden, fresh = z + kNew * hidden;
        update[static_cast<size_t>(at)] = r.activate(f, x[z] + sum[static_cast<size_t>(z)]);
        const T opened = r.activate(f, x[reset] + sum[static_cast<size_t>(reset)]);
        gated[static_cast<size_t>(at)] = opened * (linear_first ? sum[static_cast<size_t>(fresh)] : h[at]);
      }
    }
    if (!linear_first) weights.recur(d, kNew, 3, gated.data(), sum.data());
    for (int64_t b = 0; b < r.batch; ++b) {
      for (int64_t i = 0; i < hidden; ++i) {
        const int64_t at = b * hidden + i, fresh = b * gates + kNew * hidden + i;
        const T recurred = linear_first ? gated[static_cast<size_t>(at)] : sum[static_cast<size_t>(fresh)];
        const T candidate = r.activate(g, x[fresh] + recurred), z = update[static_cast<size_t>(at)];
        h[at] = (1 - z) * candidate + z * h[at];
      }
    }
  });
}

void gru_op(Call& call) {
  const Recurrent r = read_recurrent(call, 3, {"Sigmoid", "Tanh"});
  with_float(call, call.in(0).dtype(), [&](auto zero) { run_gru<decltype(zero)>(call, r); });
}

constexpr Kernel kKernels[] = {{"", "GRU", gru_op}};

}  // namespace

std::span<const Kernel> gru_kernels() { return kKernels; }

}  // namespace mlopt::reference
