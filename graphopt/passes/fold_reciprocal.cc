// x * Reciprocal(y) -> x / y, x / Reciprocal(y) -> x * y, 1 / y -> Reciprocal(y), for floats.
#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.opset() < 7) return Decline{"its opset broadcasts in another way"};
  const char* op = m.root->op == "Mul" ? "Div" : "Mul";
  return Replacement{builder.op(op, {m.value("x"), m.value("y")}, {}, m.root->output(0)->type)};
}

Expected<Replacement> rewrite_one(const Match& m, Builder& builder) {
  Value* y = m.value("y");
  const Tensor& c = m.constant("one");
  if (!is_foldable_float(y->type.dtype) || builder.opset() < 7) return Decline{"its elements are no floats"};
  if (c.size() != 1 || number_at(c, 0) != 1) return Decline{};
  if (c.rank() > 0 && (!y->type.dims || c.rank() > static_cast<int>(y->type.dims->size())))
    return Decline{"it may broadcast"};
  return Replacement{builder.op("Reciprocal", {y}, {}, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  const auto inverse = [] { return Pattern::op("Reciprocal", {Pattern::any("y")}).single_use(); };
  return {{Pattern::op("Mul", {Pattern::any("x"), inverse()}).any_order(), rewrite},
          {Pattern::op("Div", {Pattern::any("x"), inverse()}), rewrite},
          {Pattern::op("Div", {Pattern::constant("one"), Pattern::any("y")}), rewrite_one}};
}

}  // namespace

const Pass fold_reciprocal = {"fold_reciprocal", "fold Reciprocal into the Mul or Div that reads it", rules};

}  // namespace mlopt::graphopt
