// Cast(a) Cast(b) -> Cast(And(a, b)), for two conditions. A condition made of numbers that were given further axes,
// Cast(Unsqueeze(x)) -> Unsqueeze(Cast(x)), which is how masks are looked into.
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value *a = m.value("a"), *b = m.value("b");
  if (a->type.dtype != DType::kBool || b->type.dtype != DType::kBool) return Decline{"they are no conditions"};
  if (!m.root->input(0)->single_use() && !m.root->input(1)->single_use())
    return Decline{"both are used as numbers elsewhere"};
  if (builder.opset() < 7) return Decline{"its opset broadcasts in another way"};
  const Type& type = m.root->output(0)->type;
  if (!type.has_dtype()) return Decline{"its type is not known"};
  Value* both = builder.op("And", {a, b});
  return Replacement{builder.op("Cast", {both}, {{"to", static_cast<int64_t>(type.dtype), ""}}, type)};
}

Expected<Replacement> before_axes(const Match& m, Builder& builder) {
  if (m.root->output(0)->type.dtype != DType::kBool) return Decline{"it makes no condition"};
  const Value* x = m.value("x");
  if (x->type.dtype == DType::kBool || x->type.dtype == DType::kUndefined) return Decline{"it is a condition already"};
  const Node& unsqueeze = *m.node("axes");
  Value* cast = builder.op("Cast", {m.value("x")}, m.root->attrs, Type::tensor(DType::kBool, x->type.dims));
  std::vector<Value*> inputs = unsqueeze.inputs();
  inputs[0] = cast;
  return Replacement{builder.op("Unsqueeze", std::move(inputs), unsqueeze.attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  Pattern axes = Pattern::op("Unsqueeze", {Pattern::any("x")}).open().as("axes").single_use();
  const auto cast = [](const char* of) { return Pattern::op("Cast", {Pattern::any(of)}); };
  return {{Pattern::op("Cast", {std::move(axes)}), before_axes}, {Pattern::op("Mul", {cast("a"), cast("b")}), rewrite}};
}

}  // namespace

const Pass fuse_conditions = {"fuse_conditions", "conditions that are multiplied as numbers, joined by And", rules};

}  // namespace mlopt::fusion
