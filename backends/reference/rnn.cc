#include "backends/reference/kernels.h"
#include "backends/reference/recurrent.h"

namespace mlopt::reference {
namespace {

/// h = f(X W' + H R' + biases).
void rnn_op(Call& call) {
  const Recurrent r = read_recurrent(call, 1, {"Tanh"});
  with_float(call, call.in(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    const RecurrentWeights<T> weights(call, r);
    std::vector<T> sum(static_cast<size_t>(r.batch * r.hidden));
    run_recurrent<T>(call, r, weights, false, [&](int64_t d, const T* x, T* h, T*) {
      weights.recur(d, 0, 1, h, sum.data());
      for (size_t i = 0; i < sum.size(); ++i) h[i] = r.activate(r.activations[static_cast<size_t>(d)], x[i] + sum[i]);
    });
  });
}

constexpr Kernel kKernels[] = {{"", "RNN", rnn_op}};

}  // namespace

std::span<const Kernel> rnn_kernels() { return kKernels; }

}  // namespace mlopt::reference
