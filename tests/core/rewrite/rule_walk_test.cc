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

Expected<Replacement> one_relu(const Match& m, Builder& builder) {
  return Replacement{builder.op("Relu", {m.value("x")})};
}

/// Tanh(x) -> two nodes, which another rule joins.
Expected<Replacement> two_nodes(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  return Replacement{builder.op("Mul", {builder.op("Sigmoid", {x}), x})};
}

Expected<Replacement> joined(const Match& m, Builder& builder) {
  return Replacement{builder.op("Abs", {m.value("x")})};
}

std::vector<Rule> joining() {
  const Pattern x = Pattern::any("x");
  return {{Pattern::op("Relu", {Pattern::op("Relu", {x})}), one_relu},
          {Pattern::op("Tanh", {x}), two_nodes},
          {Pattern::op("Mul", {Pattern::op("Sigmoid", {x}), Pattern::any("again")}), joined}};
}

const Pass kJoining = {"joining", "for tests", joining};

std::vector<std::string> origins_of_last(const std::string& nodes) {
  Model model = test::fixture("g (double[3] x) => (double[3] y) { " + nodes + " }");
  run_pass(model, kJoining, test::pass_context());
  CHECK(model.graph->nodes().size() == 1);
  return model.graph->nodes().back()->origins;
}

/// Softmax(Exp(x)) -> Max(x), made in front of Exp, which a Max besides takes the place of for all that read it.
Expected<Replacement> early(const Match& m, Builder& builder) {
  Value *x = m.value("x"), *exp = m.root->input(0);
  Builder before = builder.at(exp->producer);
  Value* made = before.op("Max", {x}, {}, exp->type);
  builder.replace(exp, made);
  return Replacement{made};
}

std::vector<Rule> at_another_place() {
  return {{Pattern::op("Softmax", {Pattern::op("Exp", {Pattern::any("x")})}), early}};
}

const Pass kEarly = {"early", "for tests", at_another_place};

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

TEST_CASE("so is what was made at another place, and other values are replaced only where the rewrite stands") {
  const auto fused = [](std::string (*objection)(const NodeView&)) {
    Model model =
        test::fixture("g (double[3] x) => (double[3] y, double[3] z) { e = Exp (x)  z = Abs (e)  y = Softmax (e) }");
    PassContext context = test::pass_context();
    context.objection = objection;
    run_pass(model, kEarly, context);
    return test::operators(*model.graph);
  };
  CHECK(fused(nullptr) == "Max Abs");
  CHECK(fused(no_max) == "Exp Abs Softmax");
}

TEST_CASE("what cannot be run anyway is rewritten") { CHECK(outcome(21, no_mul_or_max).operators == "Max"); }

TEST_CASE("a node says what it was put in place of, in order and once") {
  std::string chain = "[n0] a0 = Relu (x)";
  std::vector<std::string> expected = {"Relu 'n0'"};
  for (int i = 1; i < 500; ++i) {
    const std::string n = std::to_string(i), before = std::to_string(i - 1);
    chain += " [n" + n + "] " + (i == 499 ? "y" : "a" + n) + " = Relu (a" + before + ")";
    expected.push_back("Relu 'n" + n + "'");
  }
  CHECK(origins_of_last(chain) == expected);
  CHECK(origins_of_last("[t] y = Tanh (x)") == std::vector<std::string>{"Tanh 't'"});
}

TEST_CASE("inputs that are omitted at the end are not written") {
  Model model = test::fixture("g (double[3] x) => (double[3] y) { y = Relu (x) }");
  Builder builder(model, *model.graph, model.graph->outputs()[0]->producer);
  Value* x = model.graph->inputs()[0];
  CHECK(builder.op("Clip", {x, nullptr, nullptr})->producer->inputs().size() == 1);
  CHECK(builder.contrib("Attention", {x, nullptr, x, nullptr})->producer->inputs().size() == 3);
}
