// LSTM: the products of all inputs at once, then for each step one product of the state and one kernel.
#include <algorithm>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

enum Input { kSource, kWeights, kRecurrence, kBias, kLengths, kHidden, kCell, kPeepholes };

struct Lstm {
  Elem type;
  bool tf32;
  int64_t steps, batch, size, hidden, directions;
  bool reverse;  ///< the only direction
  bool bias, hidden_given, cell_given, wants_all, wants_hidden, wants_cell;
  size_t width;

  int64_t state() const { return batch * hidden; }
  int64_t gates() const { return 4 * hidden; }

  /// out [m, 4 hidden] = a [m, k] w' + b (+ out).
  void multiply(const Buffers& b, const std::byte* a, const std::byte* w, const std::byte* bias_at, std::byte* out,
                int64_t m, int64_t k, float beta) const {
    ProductArgs args{};
    args.type = type;
    args.tf32 = tf32;
    args.b_transposed = true;
    args.batch = 1;
    args.m = m, args.n = gates(), args.k = k;
    args.alpha = 1, args.beta = beta;
    args.a = a, args.b = w, args.bias = bias_at, args.out = out;
    launch(b, &Kernels::product, args);
  }

  void copy(const Buffers& b, const std::byte* from, std::byte* to) const {
    Walk<2> walk = *walk_over<2>({state()}, {Dims{1}, Dims{1}});
    launch(b, &Kernels::copy, CopyArgs{static_cast<int>(width), walk, from, to});
  }

  /// The state that input i gives for a direction, or zeros, at `to`.
  void start(const Buffers& b, bool given, int i, int64_t direction, std::byte* to) const {
    if (given) return copy(b, b.in<std::byte>(i) + bytes(direction * state()), to);
    launch(b, &Kernels::fill, FillArgs{static_cast<int>(width), nullptr, to, state()});
  }

  size_t bytes(int64_t elements) const { return static_cast<size_t>(elements) * width; }

  void run(const Buffers& b, int64_t d) const {
    std::byte* gates_at = b.scratch;
    std::byte* cells = gates_at + bytes(steps * batch * gates());
    std::byte* first = cells + bytes(state());
    std::byte* all = wants_all ? b.out<std::byte>(0) : first + bytes(state());
    const std::byte* both = bias ? b.in<std::byte>(kBias) + bytes(d * 2 * gates()) : nullptr;
    multiply(b, b.in<std::byte>(kSource), b.in<std::byte>(kWeights) + bytes(d * gates() * size), both, gates_at,
             steps * batch, size, 0);
    start(b, hidden_given, kHidden, d, first);
    start(b, cell_given, kCell, d, cells);
    const std::byte* before = first;
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t t = reverse || d == 1 ? steps - 1 - step : step;
      std::byte* gates_now = gates_at + bytes(t * batch * gates());
      multiply(b, before, b.in<std::byte>(kRecurrence) + bytes(d * gates() * hidden),
               both ? both + bytes(gates()) : nullptr, gates_now, batch, hidden, 1);
      std::byte* now = all + bytes((t * directions + d) * state());
      launch(b, &Kernels::lstm_step, LstmStepArgs{type, batch, hidden, gates_now, cells, now});
      before = now;
    }
    if (wants_hidden) copy(b, before, b.out<std::byte>(1) + bytes(d * state()));
    if (wants_cell) copy(b, cells, b.out<std::byte>(2) + bytes(d * state()));
  }
};

bool has_default_activations(const NodeView& view) {
  static const std::vector<std::string> kDefault{"Sigmoid", "Tanh", "Tanh"};
  const std::vector<std::string> given = view.has("activations") ? view.get_strings("activations") : kDefault;
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != kDefault[i % 3]) return false;
  return !view.has("clip");
}

Expected<Lstm> lstm_of(const Site& site) {
  const Dims &x = site.desc(kSource).dims, &w = site.desc(kWeights).dims, &r = site.desc(kRecurrence).dims;
  const auto type = float_of(site.desc(kSource).dtype);
  if (!type) return type.error();
  for (const auto& desc : site.in)
    if (desc && desc->dtype != site.desc(kSource).dtype) return Decline{"operands of two types, or lengths"};
  if (site.has(kLengths) || site.has(kPeepholes)) return Decline{"lengths or peepholes"};
  if (site.view.get_int("layout", 0) != 0 || site.view.get_int("input_forget", 0) != 0 ||
      !has_default_activations(site.view))
    return Decline{"another layout, or other activations"};
  if (x.size() != 3 || w.size() != 3 || r.size() != 3) return Decline{"the operands do not fit"};
  Lstm lstm{};
  lstm.type = *type;
  lstm.tf32 = site.context.precision == Precision::kTF32;
  lstm.steps = x[0], lstm.batch = x[1], lstm.size = x[2], lstm.hidden = r[2], lstm.directions = r[0];
  const std::string direction = site.view.get_string("direction", "forward");
  lstm.reverse = direction == "reverse";
  if (lstm.directions != (direction == "bidirectional" ? 2 : 1)) return Decline{"the directions do not fit"};
  if (w != Dims{lstm.directions, lstm.gates(), lstm.size} || r != Dims{lstm.directions, lstm.gates(), lstm.hidden})
    return Decline{"the weights do not fit"};
  lstm.bias = site.has(kBias);
  lstm.hidden_given = site.has(kHidden);
  lstm.cell_given = site.has(kCell);
  const Dims state{lstm.directions, lstm.batch, lstm.hidden};
  if (lstm.bias && site.desc(kBias).dims != Dims{lstm.directions, 2 * lstm.gates()}) return Decline{"the bias"};
  for (const int i : {kHidden, kCell})
    if (site.has(i) && site.desc(i).dims != state) return Decline{"the first state does not fit"};
  lstm.width = static_cast<size_t>(bits(site.desc(kSource).dtype)) / 8;
  return lstm;
}

Expected<PlannedStep> plan(const Site& site) {
  auto planned = lstm_of(site);
  if (!planned) return planned.error();
  Lstm& lstm = *planned;
  const auto& outputs = site.view.node().outputs();
  const auto wants = [&](size_t i) { return outputs.size() > i && outputs[i]; };
  lstm.wants_all = wants(0), lstm.wants_hidden = wants(1), lstm.wants_cell = wants(2);
  const DType type = site.desc(kSource).dtype;
  const TensorDesc all{type, {lstm.steps, lstm.directions, lstm.batch, lstm.hidden}},
      state{type, {lstm.directions, lstm.batch, lstm.hidden}};
  const int64_t gates = lstm.steps * lstm.batch * lstm.gates();
  if (all.size() == 0 || gates >= int64_t{1} << 31 || !is_countable(all) || !is_countable(site.desc(kSource)))
    return Decline{"no elements, or more than kernels count"};
  PlannedStep step{.out = {all, state, state}};
  step.out.resize(std::clamp<size_t>(outputs.size(), 1, 3));
  step.scratch_bytes = lstm.bytes(gates + 2 * lstm.state() + (lstm.wants_all ? 0 : all.size()));
  step.run = [lstm](const Buffers& b) {
    for (int64_t d = 0; d < lstm.directions; ++d) lstm.run(b, d);
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "LSTM", .plan = plan}};

}  // namespace

std::span<const Kernel> recurrent_kernels() { return kKernels; }

}  // namespace mlopt::gpu
