// The last step of all outputs of a forward LSTM, GRU or RNN -> its last state, so that the others are not kept: Keras'
// layers that return no sequence.
#include "core/ir/slice_span.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

using Ints = std::vector<int64_t>;

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node* node = m.value("steps")->producer;
  if (!node || !(node->is("LSTM") || node->is("GRU") || node->is("RNN")) || m.value("steps")->output_index != 0)
    return Decline{};
  const NodeView recurrent = builder.view(*node);
  if (recurrent.get_string("direction", "forward") != "forward") return Decline{"it does not end with the last step"};
  if (recurrent.get_int("layout", 0) != 0) return Decline{"its batch comes first"};
  constexpr int kLengths = 4;
  if (node->input(kLengths)) return Decline{"each sample has a length of its own"};
  if (!node->output(1) || node->output(1)->is_output()) return Decline{"its last state is not among its outputs"};
  if (builder.view(*m.node("squeeze")).ints("axes", 1) != Ints{1}) return Decline{"another axis than the directions"};
  const NodeView slice = builder.view(*m.root);
  const auto starts = slice.ints("starts", 1), ends = slice.ints("ends", 2);
  const auto axes = slice.ints("axes", 3, Ints{0});
  const auto steps = slice.opset() < 10 ? std::optional(Ints{1}) : slice.ints("steps", 4, Ints{1});
  if (starts != Ints{-1} || axes != Ints{0} || steps != Ints{1} || !ends || ends->size() != 1 ||
      ends->front() < kBeyondSizes)
    return Decline{"it takes other steps than the last one"};
  return Replacement{node->output(1)};
}

std::vector<Rule> rules() {
  Pattern squeeze = Pattern::op("Squeeze", {Pattern::any("steps")}).open().as("squeeze");
  return {{Pattern::op("Slice", {std::move(squeeze)}).open(), rewrite}};
}

}  // namespace

const Pass read_last_state = {"read_last_state",
                              "read the last state of LSTM, GRU and RNN instead of their last output", rules};

}  // namespace mlopt::graphopt
