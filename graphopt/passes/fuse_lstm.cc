// c = f c + i g and h = o tanh(c) of each entry x, with f = sigmoid(x Wf + h Rf + bf), i and o likewise, and g =
// tanh(x Wg + h Rg + bg), written out for each step -> LSTM: PyTorch's LSTMCell in a loop, Keras's unrolled layers.
// S. Hochreiter and J. Schmidhuber, "Long Short-Term Memory", 1997.
#include <array>

#include "graphopt/passes.h"
#include "graphopt/passes/recurrent.h"

namespace mlopt::graphopt {
namespace {

/// A gate behind an activation.
struct Acting {
  std::string by;
  Gate gate;
};

std::optional<Acting> acting(const Value* v, const Cell& cell) {
  const auto by = activated(v);
  const auto gate = by ? cell.gate(by->of) : std::nullopt;
  if (!gate) return std::nullopt;
  return Acting{by->by, {*gate->x, gate->s, gate->bias, {}}};
}

/// Both operands, either one first.
std::array<std::pair<Value*, Value*>, 2> either_way(const Node& node) {
  return {std::pair(node.input(0), node.input(1)), std::pair(node.input(1), node.input(0))};
}

struct Memory {
  Acting forget, input, fresh;
  Value* before;
};

std::optional<Memory> memory_of(const Value* next, const Cell& cell) {
  const Node* sum = producer_of(next, "Add");
  if (!sum) return std::nullopt;
  for (const auto& [kept, added] : either_way(*sum)) {
    const Node *keep = producer_of(kept, "Mul"), *add = producer_of(added, "Mul");
    if (!keep || !add) continue;
    const auto one = acting(add->input(0), cell), other = acting(add->input(1), cell);
    if (!one || !other) continue;
    const bool second = one->by != "Sigmoid" && other->by == "Sigmoid";
    for (const auto& [gate, before] : either_way(*keep))
      if (const auto forget = acting(gate, cell))
        return Memory{*forget, second ? *other : *one, second ? *one : *other, before};
  }
  return std::nullopt;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) { return layer_of_steps(lstm_of, m, builder); }

std::vector<Rule> rules() { return {{Pattern::op("Mul", {}).open(), rewrite}}; }

}  // namespace

std::optional<Recurrent> lstm_of(const Cell& cell) {
  const Node* product = producer_of(cell.next(), "Mul");
  if (!product) return std::nullopt;
  for (const auto& [gate, shown] : either_way(*product)) {
    const auto show = activated(shown);
    const auto memory = show ? memory_of(show->of, cell) : std::nullopt;
    const auto output = memory ? acting(gate, cell) : std::nullopt;
    if (!output || output->by != memory->input.by || output->by != memory->forget.by) continue;
    return Recurrent{.op = "LSTM",
                     .gates = {memory->input.gate, output->gate, memory->forget.gate, memory->fresh.gate},
                     .activations = {output->by, memory->fresh.by, show->by},
                     .memory = memory->before,
                     .next_memory = show->of};
  }
  return std::nullopt;
}

const Pass fuse_lstm = {"fuse_lstm", "a cell of long short-term memory, written out for each step, as LSTM", rules};

}  // namespace mlopt::graphopt
