#include "core/rewrite/inline_if.h"

#include <set>

#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

/// A branch of one operator on a value of the graph around it.
Attr branch(Net& net, const char* attr, const char* op, Value* x) {
  auto body = std::make_shared<Graph>();
  Value* y = body->add_value(net.graph().fresh_name(attr));
  body->add_node("", op, {x}, {y});
  body->add_output(y);
  return {attr, GraphPtr(std::move(body)), ""};
}

Value* choice(Net& net, Value* condition, Value* x, const char* yes, const char* no) {
  return net.op("If", {condition}, {branch(net, "then_branch", yes, x), branch(net, "else_branch", no, x)});
}

}  // namespace

TEST_CASE("the branch of a constant condition takes the place of the If") {
  for (const bool value : {false, true}) {
    Net net;
    Value* x = net.op("Tanh", {net.input({3, 4})});
    net.output(choice(net, net.constant(tensor({}, {value ? 1.0 : 0.0}, DType::kBool)), x, "Neg", "Abs"));
    REQUIRE(prepared_ops(net.model) == (value ? "Neg 1, Tanh 1" : "Abs 1, Tanh 1"));
    require_same_result(net.model, 1e-5);
  }
}

TEST_CASE("so does that of a condition on shapes") {
  Net net;
  Value* x = net.input({3, 4});
  Value* rows = net.op("Gather", {net.op("Shape", {x}), net.constant(tensor({}, {0}, DType::kI64))});
  Value* condition = net.op("Equal", {rows, net.constant(tensor({}, {3}, DType::kI64))});
  net.output(net.op("Sigmoid", {choice(net, condition, x, "Neg", "Abs")}));
  net.output(choice(net, net.op("Not", {condition}), x, "Exp", "Identity"));
  REQUIRE(specialized_ops(net.model).find("If") == std::string::npos);
  require_same_result(net.model, 1e-5);
}

TEST_CASE("an If whose condition is data stays") {
  Net net;
  Value* x = net.input({3, 4});
  Value* condition =
      net.op("Greater", {net.op("ReduceSum", {x}, {{"keepdims", int64_t{0}, ""}}), net.constant(tensor({}, {0}))});
  net.output(choice(net, condition, x, "Neg", "Abs"));
  REQUIRE(specialized_ops(net.model).find("If 1") != std::string::npos);
  require_same_result(net.model, 1e-5);
}

TEST_CASE("an If that is skipped stays, what is in its branches does not") {
  const Model source = fixture(R"(g (float[3] x) => (float[3] y) <bool yes = {1}> {
    [outer] y = If (yes) <
      then_branch = t () => (float[3] a) {
        [inner] a = If (yes) <then_branch = p () => (float[3] b) { b = Exp (x) },
                              else_branch = q () => (float[3] c) { c = Abs (x) }> },
      else_branch = e () => (float[3] d) { d = Neg (x) }>
  })");
  const auto left = [&](std::vector<std::string> only, std::vector<std::string> skip) {
    Model model = clone(source);
    PassContext context = pass_context();
    context.only = std::move(only);
    context.skip = std::move(skip);
    run_pass(model, inline_if, context);
    return operators(*model.graph);
  };
  CHECK(left({}, {}) == "Exp");
  CHECK(left({}, {"outer"}) == "If[Exp][Neg]");
  CHECK(left({"inner"}, {}) == "If[Exp][Neg]");
}

TEST_CASE("an If whose branch is no graph stays") {
  Model model = fixture(R"(g (float[3] x) => (float[3] y) <bool yes = {1}> {
    y = If (yes) <then_branch = 3, else_branch = e () => (float[3] d) { d = Neg (x) }> })");
  CHECK(run_pass(model, inline_if, pass_context()).applied == 0);
}

TEST_CASE("branches that are put in place one after the other share no names") {
  Model model = fixture(R"(g (float[3] x) => (float[3] y) <bool yes = {1}> {
    p = If (yes) <then_branch = t () => (float[3] a) { [n] v = Exp (x)  [m] a = Neg (v) },
                  else_branch = e () => (float[3] b) { b = Abs (x) }>
    y = If (yes) <then_branch = t () => (float[3] a) { [n] v = Exp (p)  [m] a = Neg (v) },
                  else_branch = e () => (float[3] b) { b = Abs (p) }> })");
  CHECK(rewritten(inline_if, model, 1e-6) == "Exp Neg Exp Neg");
  run_pass(model, inline_if, pass_context());
  std::set<std::string> names;
  for (const Node* node : model.graph->nodes()) names.insert(node->name);
  CHECK(names.size() == 4);
}

}  // namespace mlopt::test
