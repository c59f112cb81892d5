// x + Neg(y) -> x - y, x - Neg(y) -> x + y, Neg(x - y) -> y - x.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.opset() < 7) return Decline{"its opset broadcasts in another way"};
  const char* op = m.root->op == "Sub" ? "Add" : "Sub";
  return Replacement{builder.op(op, {m.value("x"), m.value("y")}, {}, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  const auto neg = [] { return Pattern::op("Neg", {Pattern::any("y")}).single_use(); };
  return {{Pattern::op("Add", {Pattern::any("x"), neg()}).any_order(), rewrite},
          {Pattern::op("Sub", {Pattern::any("x"), neg()}), rewrite},
          {Pattern::op("Neg", {Pattern::op("Sub", {Pattern::any("y"), Pattern::any("x")}).single_use()}), rewrite}};
}

}  // namespace

const Pass fold_neg = {"fold_neg", "fold Neg into the sum or difference next to it", rules};

}  // namespace mlopt::graphopt
