// Steps of recurrent networks backward, from what the forward steps left: sums before their activations, and states.
#include "backends/gpu/device/function.h"
#include "backends/gpu/device/recurrent.h"
#include "backends/gpu/device/walk.h"

namespace mlopt::gpu {
namespace {

template <class T>
MLOPT_DEVICE float at(const void* values, int64_t i) {
  return widen(static_cast<const T*>(values)[i]);
}
template <class T>
MLOPT_DEVICE void put(void* values, int64_t i, float value) {
  static_cast<T*>(values)[i] = narrow<T>(value);
}

MLOPT_DEVICE float sigmoid_slope(float y) { return y * (1 - y); }
MLOPT_DEVICE float tanh_slope(float y) { return 1 - y * y; }

template <class T>
struct LstmGrad {
  LstmGradArgs args;
  Divider by_hidden;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const LstmStepArgs& s = args.step;
    const int64_t hidden = s.hidden, first = static_cast<int64_t>(by_hidden.quotient(i)) * 3 * hidden + i;
    const auto gate = [&](int k) { return at<T>(s.gates, first + k * hidden); };
    const auto set = [&](int k, float grad) { put<T>(args.d_gates, first + k * hidden, grad); };
    const float in = sigmoid(gate(0)), out = sigmoid(gate(1)), keep = sigmoid(gate(2)), fresh = tanhf(gate(3));
    const float before = at<T>(s.before, i), shown = tanhf(at<T>(s.cells, i));
    const float d = at<T>(args.d_hidden, i) + (args.d_out ? at<T>(args.d_out, i) : 0);
    const float d_cell = at<T>(args.d_cells, i) + d * out * tanh_slope(shown);
    set(0, d_cell * fresh * sigmoid_slope(in));
    set(1, d * shown * sigmoid_slope(out));
    set(2, d_cell * before * sigmoid_slope(keep));
    set(3, d_cell * in * tanh_slope(fresh));
    put<T>(args.d_cells, i, d_cell * keep);
  }
};

template <class T>
struct GruGrad {
  GruGradArgs args;
  Divider by_hidden;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const GruStepArgs& s = args.step;
    const int64_t hidden = s.hidden, b = by_hidden.quotient(i), k = i - b * hidden;
    const int64_t gates = b * 3 * hidden + k, partial = b * (s.fresh ? 2 : 3) * hidden + k, open = b * 2 * hidden + k;
    const float update = sigmoid(at<T>(s.gates, gates) + at<T>(s.partial, partial));
    const float reset = sigmoid(at<T>(s.gates, gates + hidden) + at<T>(s.partial, partial + hidden));
    const float recurred = s.fresh ? 0 : at<T>(s.partial, partial + 2 * hidden);
    const float fresh = tanhf(at<T>(s.gates, gates + 2 * hidden) + (s.fresh ? at<T>(s.fresh, i) : reset * recurred));
    const float d = at<T>(args.d_hidden, i) + (args.d_out ? at<T>(args.d_out, i) : 0);
    const float d_new = d * (1 - update) * tanh_slope(fresh);
    put<T>(args.d_new, i, d_new);
    put<T>(args.d_open, open, d * (at<T>(s.before, i) - fresh) * sigmoid_slope(update));
    put<T>(args.d_hidden, i, d * update);
    if (s.fresh) return;
    put<T>(args.d_open, open + hidden, d_new * recurred * sigmoid_slope(reset));
    put<T>(args.d_gated, i, d_new * reset);
  }
};

template <class T>
struct GruResetGrad {
  GruGradArgs args;
  Divider by_hidden;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const GruStepArgs& s = args.step;
    const int64_t hidden = s.hidden, b = by_hidden.quotient(i), k = i - b * hidden;
    const float reset =
        sigmoid(at<T>(s.gates, b * 3 * hidden + hidden + k) + at<T>(s.partial, b * 2 * hidden + hidden + k));
    const float d = at<T>(args.d_gated, i);
    put<T>(args.d_open, b * 2 * hidden + hidden + k, d * at<T>(s.before, i) * sigmoid_slope(reset));
    put<T>(args.d_hidden, i, at<T>(args.d_hidden, i) + d * reset);
  }
};

template <template <class> class Work, class Args>
Status over_state(Queue& queue, const Args& args) {
  return by_float(args.step.type, [&](auto one) {
    return for_each(queue, args.step.batch * args.step.hidden, Work<decltype(one)>{args, Divider(args.step.hidden)});
  });
}

}  // namespace

Status lstm_grad(Queue& queue, const LstmGradArgs& args) { return over_state<LstmGrad>(queue, args); }
Status gru_grad(Queue& queue, const GruGradArgs& args) { return over_state<GruGrad>(queue, args); }
Status gru_reset_grad(Queue& queue, const GruGradArgs& args) { return over_state<GruResetGrad>(queue, args); }

}  // namespace mlopt::gpu
