// The gradients of GRU and RNN, as that of an LSTM.
#include "backends/gpu/gru.h"
#include "backends/gpu/kernels.h"
#include "backends/gpu/recurrent_grad.h"

namespace mlopt::gpu {
namespace {

struct GruGrad {
  RecurrentGrad grad;
  Gru gru;

  /// Where a run works: the gates' sums by the input, what the state adds, the state behind the reset gate, the states;
  /// then gradients: of the first two gates, of the new state before tanh, of what the state gives that.
  struct Room {
    std::byte *gates, *partial, *reset, *hidden, *d_open, *d_new, *d_gated, *d_hidden;
  };
  int64_t numbers() const { return (3 + 3 + 1 + 1 + 2 + 1 + 1) * gru.steps * gru.state() + 2 * gru.state(); }
  Room room(const Buffers& b) const {
    std::byte* next = b.scratch;
    const auto take = [&](int64_t count) {
      std::byte* taken = next;
      next += gru.bytes(count);
      return taken;
    };
    const int64_t all = gru.steps * gru.state();
    Room r{};
    r.gates = take(3 * all), r.partial = take(3 * all), r.reset = take(all), r.hidden = take(all + gru.state());
    r.d_open = take(2 * all), r.d_new = take(all), r.d_gated = take(all), r.d_hidden = take(gru.state());
    return r;
  }
  /// Of the step at a place, of buffers with so many states each.
  std::byte* at(std::byte* all, int64_t states, int64_t place) const {
    return all + gru.bytes(place * states * gru.state());
  }
  Gru::Room room_at(const Room& r, int64_t t) const { return {at(r.partial, 3, t), at(r.reset, 1, t)}; }

  void back(const Buffers& b, int64_t d, int64_t t, const Room& r) const {
    GruGradArgs args{};
    args.step = {
        gru.type, gru.batch, gru.hidden, at(r.gates, 3, t), at(r.partial, 3, t), nullptr, grad.before(r.hidden, d, t),
        nullptr};
    if (!gru.linear) args.step.fresh = gru.fresh(room_at(r, t));
    args.d_out = grad.out_at(b, d, t);
    args.d_hidden = r.d_hidden;
    args.d_open = at(r.d_open, 2, t);
    args.d_new = at(r.d_new, 1, t);
    args.d_gated = at(r.d_gated, 1, t);
    launch(b, &Kernels::gru_grad, args);
    const int64_t row = 2 * gru.hidden;
    if (!gru.linear) {
      grad.back(b, d, row, gru.hidden, at(r.d_new, 1, t), at(r.d_gated, 1, t), 0);
      launch(b, &Kernels::gru_reset_grad, args);
    }
    grad.back(b, d, 0, row, at(r.d_open, 2, t), r.d_hidden, 1);
    if (gru.linear) grad.back(b, d, row, gru.hidden, at(r.d_gated, 1, t), r.d_hidden, 1);
  }

  void run(const Buffers& b, int64_t d) const {
    const Room r = room(b);
    gru.multiply_input(b, d, r.gates);
    grad.start(b, gru.hidden_given, Recurrent::kHidden, d, r.hidden);
    for (int64_t step = 0; step < gru.steps; ++step) {
      const int64_t t = gru.at(step, d);
      gru.step(b, d, room_at(r, t), at(r.gates, 3, t), grad.before(r.hidden, d, t), grad.after(r.hidden, d, t));
    }
    grad.start_back(b, RecurrentGrad::kLastHidden, d, r.d_hidden);
    for (int64_t step = gru.steps; step-- > 0;) back(b, d, gru.at(step, d), r);
    const int64_t row = 2 * gru.hidden;
    grad.recur(b, d, 0, row, r.d_open, grad.befores(r.hidden, d));
    if (gru.linear)
      grad.recur(b, d, row, gru.hidden, r.d_gated, grad.befores(r.hidden, d));
    else
      grad.recur(b, d, row, gru.hidden, r.d_new, r.reset);
    grad.project(b, d, 0, row, r.d_open);
    grad.project(b, d, row, gru.hidden, r.d_new);
    grad.finish(b, RecurrentGrad::kHidden, d, r.d_hidden);
  }
};

Expected<PlannedStep> plan_gru(const Site& site) {
  const auto layer = gru_of(site);
  if (!layer) return layer.error();
  if (layer->lengths) return Decline{"lengths"};
  const GruGrad gru{RecurrentGrad(site, *layer), *layer};
  auto step = gru.grad.step(site, gru.numbers());
  if (!step) return step;
  step->run = [gru](const Buffers& b) {
    for (int64_t d = 0; d < gru.gru.directions; ++d) gru.run(b, d);
  };
  return step;
}

struct RnnGrad {
  RecurrentGrad grad;
  Fn fn;

  int64_t numbers() const {
    const Recurrent& l = grad.layer();
    return (2 * l.steps + 2) * l.state();
  }

  void run(const Buffers& b, int64_t d) const {
    const Recurrent& l = grad.layer();
    const auto at = [&](std::byte* all, int64_t t) { return all + l.bytes(t * l.state()); };
    std::byte *sums = b.scratch, *hidden = at(sums, l.steps), *d_hidden = at(hidden, l.steps + 1);
    l.multiply_input(b, d, sums);
    grad.start(b, l.hidden_given, Recurrent::kHidden, d, hidden);
    for (int64_t step = 0; step < l.steps; ++step) {
      const int64_t t = l.at(step, d);
      l.multiply(b, grad.before(hidden, d, t), l.recurrence(b, d), l.recurrence_bias(b, d), at(sums, t), l.batch,
                 l.hidden, l.hidden, 1);
      launch(b, &Kernels::eltwise, EltwiseArgs{l.type, {fn}, at(sums, t), grad.after(hidden, d, t), l.state()});
    }
    const Slope slope = fn == Fn::kTanh ? Slope::kTanh : fn == Fn::kRelu ? Slope::kRelu : Slope::kSigmoid;
    const auto one_by_one = *walk_over<2>({l.state()}, {Dims{1}, Dims{1}});
    grad.start_back(b, RecurrentGrad::kLastHidden, d, d_hidden);
    for (int64_t step = l.steps; step-- > 0;) {
      const int64_t t = l.at(step, d);
      if (const std::byte* d_out = grad.out_at(b, d, t))
        launch(b, &Kernels::arith, ArithArgs{l.type, Arith::kAdd, one_by_one, d_hidden, d_out, d_hidden});
      launch(b, &Kernels::slope,
             SlopeArgs{l.type, slope, 0, 0, grad.after(hidden, d, t), d_hidden, at(sums, t), l.state()});
      grad.back(b, d, 0, l.hidden, at(sums, t), d_hidden, 0);
    }
    grad.recur(b, d, 0, l.hidden, sums, grad.befores(hidden, d));
    grad.project(b, d, 0, l.hidden, sums);
    grad.finish(b, RecurrentGrad::kHidden, d, d_hidden);
  }
};

Expected<PlannedStep> plan_rnn(const Site& site) {
  Fn fn = Fn::kNone;
  const auto layer = rnn_of(site, fn);
  if (!layer) return layer.error();
  if (layer->lengths) return Decline{"lengths"};
  const RnnGrad rnn{RecurrentGrad(site, *layer), fn};
  auto step = rnn.grad.step(site, rnn.numbers());
  if (!step) return step;
  step->run = [rnn](const Buffers& b) {
    for (int64_t d = 0; d < rnn.grad.layer().directions; ++d) rnn.run(b, d);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "mlopt", .op = "GRUGrad", .plan = plan_gru},
    {.domain = "mlopt", .op = "RNNGrad", .plan = plan_rnn},
};

}  // namespace

std::span<const Kernel> gru_grad_kernels() { return kKernels; }

}  // namespace mlopt::gpu
