#include "core/rewrite/rule_walk.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Relu(x) -> Max(x, 0), with a constant that takes another's name, or for integers nothing once that is made.
Expected<Replacement> relu_to_max(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  Value* y = builder.op("Max", {x, builder.successor(m.value("c"), Tensor::scalar<double>(0))});
  if (builder.opset() < 14) return Decline{"declined late"};
  return Replacement{y};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Mul", {Pattern::op("Relu", {Pattern::any("x")}), Pattern::any("c")}), relu_to_max}};
}

std::string no_max(const NodeView& view) { return view.node().is("Max") ? "no Max here" : ""; }
std::string no_mul_or_max(const NodeView& view) { return view.node().is("Abs") ? "" : "nothing but Abs"; }

const Pass kPass = {"relu_to_max", "for tests", rules};

struct Outcome {
  std::string operators, initializers;
  PassTally tally;
};

Outcome outcome(int64_t opset, std::string (*objection)(const NodeView&)) {
  Model model = test::fixture("g (double[3] x, double W) => (double[3] y) { a = Relu (x)  y = Mul (a, W) }", opset);
  PassContext context = test::pass_context();
  context.objection = objection;
  Outcome o;
  o.tally = run_pass(model, kPass, context);
  o.operators = test::operators(*model.graph);
  for (const Value* v : model.graph->initializers()) o.initializers += v->name + " ";
  return o;
}

}  // namespace

TEST_CASE("what a rule made and then declined is taken back") {
  const Outcome o = outcome(13, nullptr);
  CHECK(o.operators == "Relu Mul");
  CHECK(o.initializers == "W ");
  CHECK(o.tally.declined.at("declined late") == 1);
}

TEST_CASE("a rewrite to what cannot be run is declined") {
  CHECK(outcome(21, nullptr).operators == "Max");
  const Outcome o = outcome(21, no_max);
  CHECK(o.operators == "Relu Mul");
  CHECK(o.initializers == "W ");
  CHECK(o.tally.declined.at("no Max here") == 1);
}

TEST_CASE("what cannot be run anyway is rewritten") { CHECK(outcome(21, no_mul_or_max).operators == "Max"); }
