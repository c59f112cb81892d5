#include "backends/reference/kernels.h"
#include "backends/reference/recurrent_grad.h"

namespace mlopt::reference {
namespace {

/// The gates in the order in which the weights hold them (peepholes hold the first three), and what else is kept.
enum { kInput, kOutput, kForget, kCell, kState, kCellBefore, kCellOut, kKinds };

template <class T>
struct Lstm {
  const Call& call;
  const Recurrent& r;
  const RecurrentWeights<T>& weights;
  Tensor peepholes;
  bool coupled;
  Trace<T> trace;

  const T* peephole(int64_t d) const { return call.has(7) ? peepholes.data<T>() + d * 3 * r.hidden : nullptr; }

  /// The forward step, with all that it computes kept.
  void forward(int64_t d, const T* x, T* h, T* c) {
    const Activation* act = r.activations.data() + 3 * d;
    const int64_t hidden = r.hidden, gates = 4 * hidden, size = r.batch * hidden;
    std::vector<T> sum(static_cast<size_t>(r.batch * gates));
    weights.recur(d, 0, 4, h, sum.data());
    T* kept = trace.next();
    std::copy_n(h, size, kept + kState * size);
    std::copy_n(c, size, kept + kCellBefore * size);
    const T* p = peephole(d);
    for (int64_t at = 0; at < size; ++at) {
      const int64_t i = at % hidden;
      const auto before = [&](int gate) {
        const int64_t k = at / hidden * gates + gate * hidden + i;
        return x[k] + sum[static_cast<size_t>(k)] + (gate == kCell || !p ? T{0} : p[gate * hidden + i] * c[at]);
      };
      const auto keep = [&](int kind, T value) { return kept[kind * size + at] = value; };
      const T in = keep(kInput, act[0](before(kInput)));
      const T stays = keep(kForget, coupled ? 1 - in : act[0](before(kForget)));
      c[at] = stays * c[at] + in * keep(kCell, act[1](before(kCell)));
      h[at] = keep(kOutput, act[0](before(kOutput))) * keep(kCellOut, act[2](c[at]));
    }
  }

  /// Of one element: the gradients of the gates' sums into `gate`, and dc becomes that of the cell before. `dp`: the
  /// peepholes' gradients, or null.
  void element(int64_t d, int64_t step, int64_t at, T dh, T& dc, T* gate, T* dp) const {
    const Activation* act = r.activations.data() + 3 * d;
    const auto was = [&](int kind) { return trace.at(d, step, kind)[at]; };
    const int64_t hidden = r.hidden, i = at % hidden;
    const T *p = peephole(d), in = was(kInput), out = was(kOutput), forget = was(kForget), fresh = was(kCell);
    const T before = was(kCellBefore), shown = was(kCellOut);
    const T d_out = dh * shown * slope_at(call, act[0], out);
    dc += dh * out * slope_at(call, act[2], shown) + (p ? d_out * p[kOutput * hidden + i] : T{0});
    const T d_in = dc * (fresh - (coupled ? before : T{0})) * slope_at(call, act[0], in);
    const T d_forget = coupled ? T{0} : dc * before * slope_at(call, act[0], forget);
    gate[kInput * hidden] = d_in;
    gate[kOutput * hidden] = d_out;
    gate[kForget * hidden] = d_forget;
    gate[kCell * hidden] = dc * in * slope_at(call, act[1], fresh);
    dc *= forget;
    if (!p) return;
    dc += d_in * p[kInput * hidden + i] + d_forget * p[kForget * hidden + i];
    dp[kInput * hidden + i] += d_in * before;
    dp[kForget * hidden + i] += d_forget * before;
    dp[kOutput * hidden + i] += d_out * (forget * before + in * fresh);
  }
};

template <class T>
void run(Call& call, const Recurrent& r) {
  const RecurrentWeights<T> weights(call, r);
  const int64_t hidden = r.hidden, size = r.batch * hidden;
  Lstm<T> lstm{call,
               r,
               weights,
               call.has(7) ? as(call.in(7), dtype_of<T>()) : Tensor(),
               call.view.get_int("input_forget", 0) != 0,
               Trace<T>(r, kKinds)};
  require(call, !call.has(7) || lstm.peepholes.dims() == Dims{r.directions, 3 * hidden},
          "P is not [directions, 3 * hidden]");
  run_recurrent<T>(call, r, weights, true, [&](int64_t d, const T* x, T* h, T* c) { lstm.forward(d, x, h, c); });
  RecurrentGrad<T> grad(call, r, weights);
  Tensor peepholes = Tensor::zeros(dtype_of<T>(), {r.directions, 3 * hidden});
  grad.run(true, [&](int64_t d, int64_t step, T* dh, T* dc, T* sum) {
    for (int64_t at = 0; at < size; ++at)
      lstm.element(d, step, at, dh[at], dc[at], sum + at / hidden * 4 * hidden + at % hidden,
                   peepholes.mutable_data<T>() + d * 3 * hidden);
    std::fill_n(dh, size, T{0});
    grad.recur(d, 0, 4, sum, lstm.trace.at(d, step, kState), dh);
  });
  grad.write(call, true);
  call.set(6, as(peepholes, call.in(0).dtype()));
}

/// Outputs: the gradients of X, W, R, B, initial_h, initial_c, P.
void lstm_grad(Call& call) {
  const Recurrent r = read_recurrent(call, 4, {"Sigmoid", "Tanh", "Tanh"});
  require(call, r.clip == 0, "clip has no gradient");
  with_float(call, call.in(0).dtype(), [&](auto zero) { run<decltype(zero)>(call, r); });
}

constexpr Kernel kKernels[] = {{"mlopt", "LSTMGrad", lstm_grad}};

}  // namespace

std::span<const Kernel> lstm_grad_kernels() { return kKernels; }

}  // namespace mlopt::reference
