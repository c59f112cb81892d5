// s = tanh(x W + s R + b) of each entry x, or with another activation -> RNN: TensorFlow's SimpleRNN, which is exported
// as a Loop, and steps that are written out, as PyTorch's exporter leaves nn.RNN.
#include "graphopt/passes.h"
#include "graphopt/passes/recurrent.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite_loop(const Match& m, Builder& builder) { return layer_of_loop(rnn_of, m, builder); }
Expected<Replacement> rewrite_steps(const Match& m, Builder& builder) { return layer_of_steps(rnn_of, m, builder); }

std::vector<Rule> rules() {
  return {{Pattern::op("Loop", {}).open(), rewrite_loop}, {Pattern::op("Tanh|Relu|Sigmoid", {}).open(), rewrite_steps}};
}

}  // namespace

std::optional<Recurrent> rnn_of(const Cell& cell) {
  const auto next = activated(cell.next());
  const auto gate = next ? cell.gate(next->of) : std::nullopt;
  if (!gate) return std::nullopt;
  return Recurrent{.op = "RNN", .gates = {{*gate->x, gate->s, gate->bias, {}}}, .activations = {next->by}};
}

const Pass fuse_rnn = {"fuse_rnn", "a simple recurrent cell in a Loop, or written out for each step, as RNN", rules};

}  // namespace mlopt::graphopt
