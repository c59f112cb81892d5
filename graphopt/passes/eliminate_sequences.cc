// Sequences of values that are known one by one: SequenceAt(SequenceConstruct(a, b), 1) -> b,
// ConcatFromSequence(SequenceConstruct(a, b)) -> Concat(a, b), SequenceLength(SequenceConstruct(a, b)) -> 2.
#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> at(const Match& m, Builder&) {
  const std::vector<Value*>& items = m.node("sequence")->inputs();
  const auto count = static_cast<int64_t>(items.size());
  const Tensor& index = m.constant("index");
  if (index.size() != 1) return Decline{"its position is not one number"};
  int64_t i = to_ints(index)[0];
  i += i < 0 ? count : 0;
  if (i < 0 || i >= count) return Decline{"its position is not valid"};
  return Replacement{items[static_cast<size_t>(i)]};
}

Expected<Replacement> concat(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  if (view.get_int("new_axis", 0) != 0) return Decline{"it adds an axis"};
  return Replacement{builder.op("Concat", m.node("sequence")->inputs(), {{"axis", view.get_int("axis"), {}}},
                                m.root->output(0)->type)};
}

Expected<Replacement> length(const Match& m, Builder& builder) {
  const auto count = static_cast<int64_t>(m.node("sequence")->inputs().size());
  return Replacement{builder.constant("length", Tensor::scalar(count))};
}

std::vector<Rule> rules() {
  const auto sequence = [] { return Pattern::op("SequenceConstruct", {}).open().as("sequence"); };
  return {{Pattern::op("SequenceAt", {sequence(), Pattern::constant("index")}), at},
          {Pattern::op("ConcatFromSequence", {sequence()}), concat},
          {Pattern::op("SequenceLength", {sequence()}), length}};
}

}  // namespace

const Pass eliminate_sequences = {"eliminate_sequences", "remove sequences whose items are known one by one", rules};

}  // namespace mlopt::graphopt
