// GRU and RNN: the products of all inputs at once, then for each step those of the state and one kernel or two.
#include "backends/gpu/gru.h"

#include "backends/gpu/kernels.h"

namespace mlopt::gpu {
namespace {

/// Where a run works; `made` is what a step makes where sequences have lengths.
struct Places {
  std::byte *gates, *first, *made;
  Gru::Room room;
  std::byte* all;
};

struct GruForward : Gru {
  int64_t scratch() const {
    return steps * batch * gates + 3 * state() + batch * gates + (wants_all ? 0 : steps * directions * state());
  }
  Places places(const Buffers& b) const {
    std::byte* first = b.scratch + bytes(steps * batch * gates);
    std::byte* made = first + bytes(state());
    std::byte* partial = made + bytes(state());
    std::byte* reset = partial + bytes(batch * gates);
    return {b.scratch, first, made, {partial, reset}, wants_all ? b.out<std::byte>(0) : reset + bytes(state())};
  }

  void run(const Buffers& b, int64_t d) const {
    const Places r = places(b);
    multiply_input(b, d, r.gates);
    start(b, hidden_given, kHidden, d, r.first);
    const std::byte* before = r.first;
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t t = at(i, d);
      std::byte* now = r.all + bytes((t * directions + d) * state());
      step(b, d, r.room, r.gates + bytes(t * batch * gates), before, lengths ? r.made : now);
      if (lengths)
        keep_ended(b, t, r.made, r.first, now);
      else
        before = now;
    }
    if (wants_hidden) copy(b, before, b.out<std::byte>(1) + bytes(d * state()));
  }
};

Expected<PlannedStep> plan_gru(const Site& site) {
  const auto common = gru_of(site);
  if (!common) return common.error();
  const GruForward gru{*common};
  auto step = recurrent_step(site, gru);
  if (!step) return step;
  step->scratch_bytes = gru.bytes(gru.scratch());
  step->run = [gru](const Buffers& b) {
    for (int64_t d = 0; d < gru.directions; ++d) gru.run(b, d);
  };
  return step;
}

struct Rnn : Recurrent {
  Fn fn;

  void run(const Buffers& b, int64_t d) const {
    std::byte* gates_at = b.scratch;
    std::byte* first = gates_at + bytes(steps * batch * gates);
    std::byte* made = first + bytes(state());  // where sequences have lengths
    std::byte* all = wants_all ? b.out<std::byte>(0) : made + bytes(state());
    multiply_input(b, d, gates_at);
    start(b, hidden_given, kHidden, d, first);
    const std::byte* before = first;
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t t = at(i, d);
      std::byte* gates_now = gates_at + bytes(t * state());
      std::byte* now = all + bytes((t * directions + d) * state());
      multiply(b, before, recurrence(b, d), recurrence_bias(b, d), gates_now, batch, hidden, hidden, 1);
      launch(b, &Kernels::eltwise, EltwiseArgs{type, {fn}, gates_now, lengths ? made : now, state()});
      if (lengths)
        keep_ended(b, t, made, first, now);
      else
        before = now;
    }
    if (wants_hidden) copy(b, before, b.out<std::byte>(1) + bytes(d * state()));
  }
};

Expected<PlannedStep> plan_rnn(const Site& site) {
  Fn fn = Fn::kNone;
  const auto common = rnn_of(site, fn);
  if (!common) return common.error();
  const Rnn rnn{*common, fn};
  auto step = recurrent_step(site, rnn);
  if (!step) return step;
  const int64_t all = rnn.wants_all ? 0 : rnn.steps * rnn.directions * rnn.state();
  step->scratch_bytes = rnn.bytes(rnn.steps * rnn.batch * rnn.gates + 2 * rnn.state() + all);
  step->run = [rnn](const Buffers& b) {
    for (int64_t d = 0; d < rnn.directions; ++d) rnn.run(b, d);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "GRU", .plan = plan_gru},
    {.domain = "", .op = "RNN", .plan = plan_rnn},
};

}  // namespace

void Gru::step(const Buffers& b, int64_t d, const Room& room, const std::byte* gates_now, const std::byte* before,
               std::byte* now) const {
  GruStepArgs args{type, batch, hidden, gates_now, room.partial, nullptr, before, now};
  if (linear) {
    multiply(b, before, recurrence(b, d), recurrence_bias(b, d), room.partial, batch, gates, hidden, 0);
    return launch(b, &Kernels::gru_step, args);
  }
  multiply(b, before, recurrence(b, d), recurrence_bias(b, d), room.partial, batch, 2 * hidden, hidden, 0);
  args.out = room.reset;
  launch(b, &Kernels::gru_reset, args);
  multiply(b, room.reset, recurrence(b, d, 2 * hidden), recurrence_bias(b, d, 2 * hidden), fresh(room), batch, hidden,
           hidden, 0);
  args.fresh = fresh(room);
  args.out = now;
  launch(b, &Kernels::gru_step, args);
}

Expected<Gru> gru_of(const Site& site) {
  const auto common = recurrent_of(site, 3, {"Sigmoid", "Tanh"});
  if (!common) return common.error();
  return Gru{*common, site.view.get_int("linear_before_reset", 0) != 0};
}

Expected<Recurrent> rnn_of(const Site& site, Fn& fn) {
  const auto names = site.view.has("activations") ? site.view.get_strings("activations") : std::vector<std::string>{};
  const std::string name = names.empty() ? "Tanh" : names[0];
  fn = name == "Tanh" ? Fn::kTanh : name == "Relu" ? Fn::kRelu : name == "Sigmoid" ? Fn::kSigmoid : Fn::kNone;
  if (fn == Fn::kNone) return Decline{"an activation that is not Tanh, Relu or Sigmoid"};
  return recurrent_of(site, 1, {name});
}

std::span<const Kernel> gru_kernels() { return kKernels; }

}  // namespace mlopt::gpu
