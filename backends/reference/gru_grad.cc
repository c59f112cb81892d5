#include "backends/reference/kernels.h"
#include "backends/reference/recurrent_grad.h"

namespace mlopt::reference {
namespace {

/// The gates in the order in which the weights hold them, and what else is kept: h R' + the bias of R for the new state
/// where the reset gate comes after it, else the state behind the reset gate.
enum { kUpdate, kReset, kNew, kState, kGated, kKinds };

template <class T>
struct Gru {
  const Call& call;
  const Recurrent& r;
  const RecurrentWeights<T>& weights;
  bool linear_first;
  Trace<T> trace;

  /// The forward step, with all that it computes kept.
  void forward(int64_t d, const T* x, T* h) {
    const Activation &f = r.activations[static_cast<size_t>(2 * d)], &g = r.activations[static_cast<size_t>(2 * d + 1)];
    const int64_t hidden = r.hidden, size = r.batch * hidden;
    std::vector<T> sum(static_cast<size_t>(3 * size));
    weights.recur(d, kUpdate, linear_first ? 3 : 2, h, sum.data());
    T* kept = trace.next();
    std::copy_n(h, size, kept + kState * size);
    const auto place = [&](int64_t at, int gate) { return at / hidden * 3 * hidden + gate * hidden + at % hidden; };
    const auto before = [&](int64_t at, int gate) {
      return x[place(at, gate)] + sum[static_cast<size_t>(place(at, gate))];
    };
    for (int64_t at = 0; at < size; ++at) {
      kept[kUpdate * size + at] = f(before(at, kUpdate));
      const T opened = kept[kReset * size + at] = f(before(at, kReset));
      kept[kGated * size + at] = linear_first ? sum[static_cast<size_t>(place(at, kNew))] : opened * h[at];
    }
    if (!linear_first) weights.recur(d, kNew, 3, kept + kGated * size, sum.data());
    for (int64_t at = 0; at < size; ++at) {
      const T z = kept[kUpdate * size + at];
      const T recurred = sum[static_cast<size_t>(place(at, kNew))];
      const T fresh = g(x[place(at, kNew)] + (linear_first ? kept[kReset * size + at] * recurred : recurred));
      kept[kNew * size + at] = fresh;
      h[at] = (1 - z) * fresh + z * h[at];
    }
  }

  void backward(RecurrentGrad<T>& grad, int64_t d, int64_t step, T* dh, T* sum) const {
    const Activation &f = r.activations[static_cast<size_t>(2 * d)], &g = r.activations[static_cast<size_t>(2 * d + 1)];
    const int64_t hidden = r.hidden, size = r.batch * hidden;
    const auto was = [&](int kind) { return trace.at(d, step, kind); };
    const auto gate = [&](T* sums, int64_t at, int which) -> T& {
      return sums[at / hidden * 3 * hidden + which * hidden + at % hidden];
    };
    for (int64_t at = 0; at < size; ++at) {
      const T z = was(kUpdate)[at], fresh = was(kNew)[at];
      gate(sum, at, kNew) = dh[at] * (1 - z) * slope_at(call, g, fresh);
      gate(sum, at, kUpdate) = dh[at] * (was(kState)[at] - fresh) * slope_at(call, f, z);
      dh[at] *= z;
    }
    // What goes back through R: all gates from the state, or the new one from the state behind the reset gate.
    std::vector<T> recurred(static_cast<size_t>(3 * size)), gated(static_cast<size_t>(size));
    if (!linear_first) grad.recur(d, kNew, 3, sum, was(kGated), gated.data());
    for (int64_t at = 0; at < size; ++at) {
      const T opened = was(kReset)[at], fresh = gate(sum, at, kNew);
      const T d_opened = linear_first ? fresh * was(kGated)[at] : gated[static_cast<size_t>(at)] * was(kState)[at];
      gate(sum, at, kReset) = d_opened * slope_at(call, f, opened);
      for (const int which : {kUpdate, kReset}) gate(recurred.data(), at, which) = gate(sum, at, which);
      gate(recurred.data(), at, kNew) = fresh * opened;
      if (!linear_first) dh[at] += gated[static_cast<size_t>(at)] * opened;
    }
    grad.recur(d, kUpdate, linear_first ? 3 : 2, recurred.data(), was(kState), dh);
  }
};

template <class T>
void run(Call& call, const Recurrent& r) {
  const RecurrentWeights<T> weights(call, r);
  Gru<T> gru{call, r, weights, call.view.get_int("linear_before_reset", 0) != 0, Trace<T>(r, kKinds)};
  run_recurrent<T>(call, r, weights, false, [&](int64_t d, const T* x, T* h, T*) { gru.forward(d, x, h); });
  RecurrentGrad<T> grad(call, r, weights);
  grad.run(false, [&](int64_t d, int64_t step, T* dh, T*, T* sum) { gru.backward(grad, d, step, dh, sum); });
  grad.write(call, false);
}

/// Outputs: the gradients of X, W, R, B, initial_h.
void gru_grad(Call& call) {
  const Recurrent r = read_recurrent(call, 3, {"Sigmoid", "Tanh"});
  require(call, r.clip == 0, "clip has no gradient");
  with_float(call, call.in(0).dtype(), [&](auto zero) { run<decltype(zero)>(call, r); });
}

constexpr Kernel kKernels[] = {{"mlopt", "GRUGrad", gru_grad}};

}  // namespace

std::span<const Kernel> gru_grad_kernels() { return kKernels; }

}  // namespace mlopt::reference
