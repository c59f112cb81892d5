// LSTM: the products of all inputs at once, then for each step one product of the state and one kernel.
#include "backends/gpu/kernels.h"
#include "backends/gpu/recurrent.h"

namespace mlopt::gpu {
namespace {

struct Lstm : Recurrent {
  bool cell_given, wants_cell, peepholes;

  /// The gates of all steps; cells and state, and where sequences have lengths what a step makes of them; all states
  /// where nobody wants them.
  int64_t numbers() const {
    return steps * batch * gates + (lengths ? 4 : 2) * state() + (wants_all ? 0 : steps * directions * state());
  }

  void run(const Buffers& b, int64_t d) const {
    std::byte* gates_at = b.scratch;
    std::byte* cells = gates_at + bytes(steps * batch * gates);
    std::byte* first = cells + bytes(state());
    std::byte* made = first + bytes(state());  // cells, and behind them the state
    std::byte* all = wants_all ? b.out<std::byte>(0) : made + (lengths ? bytes(2 * state()) : 0);
    multiply_input(b, d, gates_at);
    start(b, hidden_given, kHidden, d, first);
    start(b, cell_given, kCell, d, cells);
    LstmStepArgs args{type, batch, hidden, nullptr, cells, cells, nullptr};
    if (peepholes) args.peepholes = b.in<std::byte>(kPeepholes) + bytes(d * 3 * hidden);
    const std::byte* before = first;
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t t = at(step, d);
      std::byte* gates_now = gates_at + bytes(t * batch * gates);
      multiply(b, before, recurrence(b, d), recurrence_bias(b, d), gates_now, batch, gates, hidden, 1);
      std::byte* now = all + bytes((t * directions + d) * state());
      args.gates = gates_now;
      args.cells = lengths ? made : cells;
      args.out = lengths ? made + bytes(state()) : now;
      launch(b, &Kernels::lstm_step, args);
      if (lengths) {
        keep_ended(b, t, made, cells, nullptr);
        keep_ended(b, t, made + bytes(state()), first, now);
      } else {
        before = now;
      }
    }
    if (wants_hidden) copy(b, before, b.out<std::byte>(1) + bytes(d * state()));
    if (wants_cell) copy(b, cells, b.out<std::byte>(2) + bytes(d * state()));
  }
};

Expected<PlannedStep> plan(const Site& site) {
  const auto common = lstm_of(site);
  if (!common) return common.error();
  const auto& outputs = site.view.node().outputs();
  const Lstm lstm{*common, site.has(Recurrent::kCell), outputs.size() > 2 && outputs[2],
                  site.has(Recurrent::kPeepholes)};
  auto step = recurrent_step(site, lstm);
  if (!step) return step;
  step->scratch_bytes = lstm.bytes(lstm.numbers());
  step->run = [lstm](const Buffers& b) {
    for (int64_t d = 0; d < lstm.directions; ++d) lstm.run(b, d);
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "LSTM", .plan = plan}};

}  // namespace

Expected<Recurrent> lstm_of(const Site& site) {
  const auto common = recurrent_of(site, 4, {"Sigmoid", "Tanh", "Tanh"});
  if (!common) return common;
  if (site.view.get_int("input_forget", 0) != 0) return Decline{"one gate for input and forgetting"};
  if (site.has(Recurrent::kPeepholes) &&
      site.desc(Recurrent::kPeepholes).dims != Dims{common->directions, 3 * common->hidden})
    return Decline{"the peepholes do not fit"};
  if (site.has(Recurrent::kCell) &&
      site.desc(Recurrent::kCell).dims != Dims{common->directions, common->batch, common->hidden})
    return Decline{"the first cells do not fit"};
  return common;
}

std::span<const Kernel> lstm_kernels() { return kKernels; }

}  // namespace mlopt::gpu
