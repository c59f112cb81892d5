// LSTM: the products of all inputs at once, then for each step one product of the state and one kernel.
#include "backends/gpu/kernels.h"
#include "backends/gpu/recurrent.h"

namespace mlopt::gpu {
namespace {

struct Lstm : Recurrent {
  bool cell_given, wants_cell;

  void run(const Buffers& b, int64_t d) const {
    std::byte* gates_at = b.scratch;
    std::byte* cells = gates_at + bytes(steps * batch * gates);
    std::byte* first = cells + bytes(state());
    std::byte* all = wants_all ? b.out<std::byte>(0) : first + bytes(state());
    multiply_input(b, d, gates_at);
    start(b, hidden_given, kHidden, d, first);
    start(b, cell_given, kCell, d, cells);
    const std::byte* before = first;
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t t = at(step, d);
      std::byte* gates_now = gates_at + bytes(t * batch * gates);
      multiply(b, before, recurrence(b, d), recurrence_bias(b, d), gates_now, batch, gates, hidden, 1);
      std::byte* now = all + bytes((t * directions + d) * state());
      launch(b, &Kernels::lstm_step, LstmStepArgs{type, batch, hidden, gates_now, cells, cells, now});
      before = now;
    }
    if (wants_hidden) copy(b, before, b.out<std::byte>(1) + bytes(d * state()));
    if (wants_cell) copy(b, cells, b.out<std::byte>(2) + bytes(d * state()));
  }
};

Expected<PlannedStep> plan(const Site& site) {
  const auto common = lstm_of(site);
  if (!common) return common.error();
  const auto& outputs = site.view.node().outputs();
  const Lstm lstm{*common, site.has(Recurrent::kCell), outputs.size() > 2 && outputs[2]};
  auto step = recurrent_step(site, lstm);
  if (!step) return step;
  const int64_t all = lstm.wants_all ? 0 : lstm.steps * lstm.directions * lstm.state();
  step->scratch_bytes = lstm.bytes(lstm.steps * lstm.batch * lstm.gates + 2 * lstm.state() + all);
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
  if (site.has(Recurrent::kPeepholes) || site.view.get_int("input_forget", 0) != 0)
    return Decline{"peepholes, or one gate for input and forgetting"};
  if (site.has(Recurrent::kCell) &&
      site.desc(Recurrent::kCell).dims != Dims{common->directions, common->batch, common->hidden})
    return Decline{"the first cells do not fit"};
  return common;
}

std::span<const Kernel> lstm_kernels() { return kKernels; }

}  // namespace mlopt::gpu
