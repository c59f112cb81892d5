#include "backends/reference/kernels.h"
#include "backends/reference/recurrent.h"

namespace mlopt::reference {
namespace {

/// The gates in the order in which the weights hold them; peepholes hold the first three.
enum { kInput, kOutput, kForget, kCell };

template <class T>
void run_lstm(Call& call, const Recurrent& r) {
  const RecurrentWeights<T> weights(call, r);
  const bool coupled = call.view.get_int("input_forget", 0) != 0;
  const int64_t hidden = r.hidden, gates = 4 * hidden;
  const Tensor peepholes = call.has(7) ? as(call.in(7), dtype_of<T>()) : Tensor();
  require(call, !call.has(7) || peepholes.dims() == Dims{r.directions, 3 * hidden},
          "P is not [directions, 3 * hidden]");
  std::vector<T> sum(static_cast<size_t>(r.batch * gates));
  run_recurrent<T>(call, r, weights, true, [&](int64_t d, const T* x, T* h, T* c) {
    const Activation* act = r.activations.data() + 3 * d;
    const T* p = call.has(7) ? peepholes.data<T>() + d * 3 * hidden : nullptr;
    weights.recur(d, 0, 4, h, sum.data());
    for (int64_t b = 0; b < r.batch; ++b) {
      for (int64_t i = 0; i < hidden; ++i) {
        T& cell = c[b * hidden + i];
        // What goes into a gate; the output gate sees the new cell.
        const auto before = [&](int gate) {
          const int64_t at = b * gates + gate * hidden + i;
          return x[at] + sum[static_cast<size_t>(at)] + (gate == kCell || !p ? T{0} : p[gate * hidden + i] * cell);
        };
        const T in = r.activate(act[0], before(kInput));
        const T keep = coupled ? 1 - in : r.activate(act[0], before(kForget));
        cell = keep * cell + in * r.activate(act[1], before(kCell));
        h[b * hidden + i] = r.activate(act[0], before(kOutput)) * act[2](cell);
      }
    }
  });
}

void lstm_op(Call& call) {
  const Recurrent r = read_recurrent(call, 4, {"Sigmoid", "Tanh", "Tanh"});
  with_float(call, call.in(0).dtype(), [&](auto zero) { run_lstm<decltype(zero)>(call, r); });
}

constexpr Kernel kKernels[] = {{"", "LSTM", lstm_op}};

}  // namespace

std::span<const Kernel> lstm_kernels() { return kKernels; }

}  // namespace mlopt::reference
