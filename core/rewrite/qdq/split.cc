// Split(DequantizeLinear x), all of whose outputs are rounded to x's steps -> DequantizeLinear of each part of x; and
// QuantizeLinear(DequantizeLinear x) to the same steps -> x.
#include <algorithm>

#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::qdq {
namespace {

bool is_rounded_to(const Value* value, const Stored& x, Builder& builder) {
  return !value->is_output() && std::all_of(value->uses.begin(), value->uses.end(), [&](const Use& use) {
    if (!use.node->is("QuantizeLinear") || use.index != 0) return false;
    const auto y = stored_by(use.node, builder);
    return y && same_steps(x, *y);
  });
}

Expected<Replacement> split_numbers(const Match& m, Builder& builder) {
  const Node& split = *m.root;
  const auto x = stored(split.input(0), builder);
  if (!x || !x->has_one_scale()) return Decline{"its input has no constant steps of 8 bits"};
  for (const Value* part : split.outputs())
    if (part && !is_rounded_to(part, *x, builder)) return Decline{"a part is not rounded to the steps of the whole"};
  std::vector<Value*> inputs = split.inputs();
  inputs[0] = x->numbers;
  Node* parts = builder.node("Split", std::move(inputs), split.attrs, split.first_output()->name + "_codes",
                             static_cast<int>(split.outputs().size()));
  parts->name = split.name;
  Replacement found;
  for (size_t i = 0; i < split.outputs().size(); ++i) {
    Value* numbers = parts->outputs()[i];
    if (const Value* part = split.outputs()[i]) numbers->type = Type::tensor(x->type, part->type.dims);
    found.push_back(builder.op("DequantizeLinear", {numbers, x->scale, x->zero}));
  }
  return found;
}

Expected<Replacement> cancel(const Match& m, Builder& builder) {
  const auto x = stored(m.root->input(0), builder), y = stored_by(m.root, builder);
  if (!x || !y || !x->has_one_scale() || !same_steps(*x, *y)) return Decline{"its input has other steps"};
  return Replacement{x->numbers};
}

std::vector<Rule> rules() {
  const auto dequantized = [] { return Pattern::op("DequantizeLinear", {Pattern::any("")}).open(); };
  return {{Pattern::op("Split", {dequantized()}).open(), split_numbers},
          {Pattern::op("QuantizeLinear", {dequantized()}).open(), cancel}};
}

}  // namespace

const Pass split = {"qdq_split", "Split between DequantizeLinear and QuantizeLinear on integers", rules};

}  // namespace mlopt::qdq
