// Sequences of values that are known one by one: SequenceAt(SequenceConstruct(a, b), 1) -> b,
// ConcatFromSequence(SequenceConstruct(a, b)) -> Concat(a, b), SequenceLength(SequenceConstruct(a, b)) -> 2, and
// SequenceInsert(SequenceConstruct(a), b) -> SequenceConstruct(a, b), as a list that a loop appends to is exported.
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
  const int64_t axis = view.get_int("axis");
  std::vector<Value*> items = m.node("sequence")->inputs();
  if (view.get_int("new_axis", 0) != 0) {
    if (builder.opset() < 13) return Decline{"Unsqueeze takes its axes from opset 13 on"};
    Value* axes = builder.constant("axes", Tensor::ints({axis}));
    for (Value*& item : items) item = builder.op("Unsqueeze", {item, axes});
  }
  return Replacement{builder.op("Concat", std::move(items), {{"axis", axis, {}}}, m.root->output(0)->type)};
}

Expected<Replacement> insert(const Match& m, Builder& builder) {
  std::vector<Value*> items;
  if (m.has("sequence")) items = m.node("sequence")->inputs();
  int64_t at = std::ssize(items);
  if (const Value* position = m.root->input(2)) {
    const Tensor* known = position->known_constant();
    if (!known || known->size() != 1) return Decline{"its position is not one number"};
    const int64_t given = to_ints(*known)[0];
    at = given < 0 ? given + std::ssize(items) : given;
    if (at < 0 || at > std::ssize(items)) return Decline{"its position is not valid"};
  }
  items.insert(items.begin() + at, m.value("item"));
  return Replacement{builder.op("SequenceConstruct", std::move(items), {}, m.root->output(0)->type)};
}

Expected<Replacement> length(const Match& m, Builder& builder) {
  const auto count = static_cast<int64_t>(m.node("sequence")->inputs().size());
  return Replacement{builder.constant("length", Tensor::scalar(count))};
}

std::vector<Rule> rules() {
  const auto sequence = [] { return Pattern::op("SequenceConstruct", {}).open().as("sequence"); };
  return {{Pattern::op("SequenceAt", {sequence(), Pattern::constant("index")}), at},
          {Pattern::op("ConcatFromSequence", {sequence()}), concat},
          {Pattern::op("SequenceLength", {sequence()}), length},
          {Pattern::op("SequenceInsert", {sequence(), Pattern::any("item")}).open(), insert},
          {Pattern::op("SequenceInsert", {Pattern::op("SequenceEmpty", {}), Pattern::any("item")}).open(), insert}};
}

}  // namespace

const Pass eliminate_sequences = {"eliminate_sequences", "remove sequences whose items are known one by one", rules};

}  // namespace mlopt::graphopt
