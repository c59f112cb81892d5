// Loop of s = tanh(x W + s R + b), or another activation -> RNN: TensorFlow's SimpleRNN.
#include "graphopt/passes.h"
#include "graphopt/passes/cell.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto cell = Cell::of(*m.root, builder);
  if (!cell) return cell.error();
  const auto next = activated(cell->next());
  const auto gate = next ? cell->affine(next->of) : std::nullopt;
  if (!gate || !gate->x || !gate->s || gate->state != cell->state()) return Decline{"its cell is not RNN's"};
  return cell->replace("RNN", {{*gate->x, *gate->s, gate->bias, {}}},
                       {{"activations", std::vector<std::string>{next->by}, ""}}, m, builder);
}

std::vector<Rule> rules() { return {{Pattern::op("Loop", {}).open(), rewrite}}; }

}  // namespace

const Pass fuse_rnn = {"fuse_rnn", "a Loop of a simple recurrent cell as RNN", rules};

}  // namespace mlopt::graphopt
