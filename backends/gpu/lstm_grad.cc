// The gradient of an LSTM: the layer again with all its steps kept, then these backward, a kernel and a product each,
// and the gradients of the weights as one product over all steps.
#include "backends/gpu/kernels.h"
#include "backends/gpu/recurrent_grad.h"

namespace mlopt::gpu {
namespace {

struct Lstm {
  RecurrentGrad grad;
  bool cell_given;

  int64_t numbers() const {
    const Recurrent& l = grad.layer();
    return l.steps * l.batch * l.gates + 2 * (l.steps + 1) * l.state() + 2 * l.state();
  }

  void run(const Buffers& b, int64_t d) const {
    const Recurrent& l = grad.layer();
    const size_t gates = l.bytes(l.batch * l.gates), state = l.bytes(l.state());
    std::byte* gates_at = b.scratch;
    std::byte* hidden = gates_at + l.bytes(l.steps * l.batch * l.gates);
    std::byte* cells = hidden + l.bytes((l.steps + 1) * l.state());
    std::byte* d_hidden = cells + l.bytes((l.steps + 1) * l.state());
    std::byte* d_cells = d_hidden + state;
    const auto step_at = [&](int64_t t) {
      return LstmStepArgs{l.type,
                          l.batch,
                          l.hidden,
                          gates_at + static_cast<size_t>(t) * gates,
                          grad.before(cells, d, t),
                          grad.after(cells, d, t),
                          grad.after(hidden, d, t)};
    };
    l.multiply_input(b, d, gates_at);
    grad.start(b, l.hidden_given, Recurrent::kHidden, d, hidden);
    grad.start(b, cell_given, Recurrent::kCell, d, cells);
    for (int64_t step = 0; step < l.steps; ++step) {
      const int64_t t = l.at(step, d);
      l.multiply(b, grad.before(hidden, d, t), l.recurrence(b, d), l.recurrence_bias(b, d),
                 gates_at + static_cast<size_t>(t) * gates, l.batch, l.gates, l.hidden, 1);
      launch(b, &Kernels::lstm_step, step_at(t));
    }
    grad.start_back(b, RecurrentGrad::kLastHidden, d, d_hidden);
    grad.start_back(b, RecurrentGrad::kLastCell, d, d_cells);
    for (int64_t step = l.steps; step-- > 0;) {
      const int64_t t = l.at(step, d);
      std::byte* d_gates = gates_at + static_cast<size_t>(t) * gates;
      launch(b, &Kernels::lstm_grad, LstmGradArgs{step_at(t), d_hidden, grad.out_at(b, d, t), d_gates, d_cells});
      grad.back(b, d, 0, l.gates, d_gates, d_hidden, 0);
    }
    grad.recur(b, d, 0, l.gates, gates_at, grad.befores(hidden, d));
    grad.project(b, d, 0, l.gates, gates_at);
    grad.finish(b, RecurrentGrad::kHidden, d, d_hidden);
    grad.finish(b, RecurrentGrad::kCell, d, d_cells);
  }
};

Expected<PlannedStep> plan(const Site& site) {
  const auto layer = lstm_of(site);
  if (!layer) return layer.error();
  if (layer->lengths) return Decline{"lengths"};
  if (site.has(Recurrent::kPeepholes)) return Decline{"peepholes"};
  const Lstm lstm{RecurrentGrad(site, *layer), site.has(Recurrent::kCell)};
  auto step = lstm.grad.step(site, lstm.numbers());
  if (!step) return step;
  step->run = [lstm](const Buffers& b) {
    const Recurrent& l = lstm.grad.layer();
    for (int64_t d = 0; d < l.directions; ++d) lstm.run(b, d);
    lstm.grad.clear(b, RecurrentGrad::kPeepholes, l.directions * 3 * l.hidden);  // there are none
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "mlopt", .op = "LSTMGrad", .plan = plan}};

}  // namespace

std::span<const Kernel> lstm_grad_kernels() { return kKernels; }

}  // namespace mlopt::gpu
