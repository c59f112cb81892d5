#include "core/rewrite/extract.h"

#include "core/ir/infer.h"
#include "core/ir/verify.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

Model source() {
  Model model = test::fixture(R"(g (float[N,4] x, float[N,4] m, float[4,4] W) => (float[N,4] y, float[N,4] z) {
    a = MatMul (x, W)
    b = Relu (a)
    c = Add (b, m)
    y = Neg (c)
    z = Exp (b)
  })");
  infer(model);
  return model;
}

std::string part(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  Model model = source();
  extract(model, inputs, outputs);
  CHECK(verify(model).empty());
  std::string text = test::operators(*model.graph) + ":";
  for (const Value* v : model.graph->inputs()) text += " " + v->name + " " + to_string(v->type);
  text += " ->";
  for (const Value* v : model.graph->outputs()) text += " " + v->name + " " + to_string(v->type);
  return text;
}

std::string refused(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  try {
    part(inputs, outputs);
  } catch (const Error& e) {
    return e.code == Code::kUsage ? e.message : "another error";
  }
  return "";
}

}  // namespace

TEST_CASE("a part of a graph is cut out between any of its values") {
  CHECK(part({"b"}, {"z"}) == "Exp: b float32[N,4] -> z float32[N,4]");
  CHECK(part({"m", "b"}, {"c"}) == "Add: m float32[N,4] b float32[N,4] -> c float32[N,4]");
  CHECK(part({}, {"b"}) == "MatMul Relu: x float32[N,4] -> b float32[N,4]");
  CHECK(part({}, {"z", "a"}) == "MatMul Relu Exp: x float32[N,4] -> z float32[N,4] a float32[N,4]");
  CHECK(part({"x"}, {"a"}) == "MatMul: x float32[N,4] -> a float32[N,4]");
}

TEST_CASE("what cannot be cut out is refused with its name") {
  CHECK(refused({"a"}, {}) == "the outputs need 'm' as well");
  CHECK(refused({"a"}, {"y"}) == "the outputs need 'm' as well");
  CHECK(refused({"b", "x"}, {"z"}) == "no output needs 'x'");
  CHECK(refused({"q"}, {"z"}) == "no value of the graph is called 'q'");
  CHECK(refused({"b"}, {"q"}) == "no value of the graph is called 'q'");
  CHECK(refused({"W"}, {"y"}) == "'W' is a constant");
  CHECK(refused({"b"}, {"b"}) == "'b' is input and output");
  CHECK(refused({}, {"x"}) == "no node computes 'x'");
  CHECK(refused({}, {"W"}) == "no node computes 'W'");
}

TEST_CASE("what a body reads of the graph around it goes along") {
  Model model = test::fixture(R"(g (bool c, float[4] x) => (float[4] y) {
    a = Neg (x)
    b = If (c) <then_branch = t () => (u) { u = Relu (a) }, else_branch = e () => (v) { v = Exp (a) }>
    y = Abs (b)
  })");
  infer(model);
  extract(model, {"c", "a"}, {"b"});
  CHECK(verify(model).empty());
  CHECK(test::operators(*model.graph) == "If[Relu][Exp]");
  CHECK(model.graph->inputs()[1]->name == "a");
}
