#include "backends/reference/kernels.h"
#include "backends/reference/recurrent_grad.h"

namespace mlopt::reference {
namespace {

enum { kBefore, kAfter, kKinds };

template <class T>
void run(Call& call, const Recurrent& r) {
  const RecurrentWeights<T> weights(call, r);
  const int64_t size = r.batch * r.hidden;
  Trace<T> trace(r, kKinds);
  std::vector<T> sum(static_cast<size_t>(size));
  const auto activation = [&](int64_t d) { return r.activations[static_cast<size_t>(d)]; };
  run_recurrent<T>(call, r, weights, false, [&](int64_t d, const T* x, T* h, T*) {
    T* kept = trace.next();
    std::copy_n(h, size, kept + kBefore * size);
    weights.recur(d, 0, 1, h, sum.data());
    for (int64_t i = 0; i < size; ++i)
      kept[kAfter * size + i] = h[i] = activation(d)(x[i] + sum[static_cast<size_t>(i)]);
  });
  RecurrentGrad<T> grad(call, r, weights);
  grad.run(false, [&](int64_t d, int64_t step, T* dh, T*, T* dsum) {
    for (int64_t i = 0; i < size; ++i) dsum[i] = dh[i] * slope_at(call, activation(d), trace.at(d, step, kAfter)[i]);
    std::fill_n(dh, size, T{0});
    grad.recur(d, 0, 1, dsum, trace.at(d, step, kBefore), dh);
  });
  grad.write(call, false);
}

/// Outputs: the gradients of X, W, R, B, initial_h.
void rnn_grad(Call& call) {
  const Recurrent r = read_recurrent(call, 1, {"Tanh"});
  require(call, r.clip == 0, "clip has no gradient");
  with_float(call, call.in(0).dtype(), [&](auto zero) { run<decltype(zero)>(call, r); });
}

constexpr Kernel kKernels[] = {{"mlopt", "RNNGrad", rnn_grad}};

}  // namespace

std::span<const Kernel> rnn_grad_kernels() { return kKernels; }

}  // namespace mlopt::reference
