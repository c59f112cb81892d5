#include "core/base/error.h"
#include "core/ir/dump.h"
#include "core/ir/verify.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using mlopt::test::contains;
using mlopt::test::error_of;

namespace {

const std::string kHeader = R"(<ir_version: 10, opset_import: ["" : 21, "local" : 1]>)";

Model inlined(const std::string& text) {
  Model model = parse_text(kHeader + text);
  inline_functions(model);
  CHECK(verify(model).empty());
  CHECK(model.functions.empty());
  return model;
}

}  // namespace

TEST_CASE("a call becomes the body of its function, with its attributes and names") {
  const Model model = inlined(R"(
    main (float[4] x) => (float[4] y, float[4] z) {
      [one] y = local.act <slope = 0.5> (x)
      [two] z = local.act (y)
    }
    <domain: "local", opset_import: ["" : 21]>
    act <slope: float = 0.25> (a) => (c) {
      b = LeakyRelu <alpha: float = @slope> (a)
      c = Neg (b)
    })");
  CHECK(dump(*model.graph) ==
        "(%x:float32[4]) -> (%y, %z)\n"
        "  %one/b = LeakyRelu<alpha=0.5>(%x)\n"
        "  %y:float32[4] = Neg(%one/b)\n"
        "  %two/b = LeakyRelu<alpha=0.25>(%y)\n"
        "  %z:float32[4] = Neg(%two/b)\n");
}

TEST_CASE("calls in functions, in bodies, with omitted inputs and passed-on values") {
  const Model model = inlined(R"(
    main (float[4] x, bool c) => (float[4] y, float[4] p, float[4] q) {
      y = If (c) <then_branch = a () => (float[4] t) { t = local.outer (x) },
                  else_branch = b () => (float[4] e) { e = Identity (x) }>
      p, q = local.twice (x)
    }
    <domain: "local", opset_import: ["" : 21, "local" : 1]> outer (a) => (b) { b = local.inner (a) }
    <domain: "local", opset_import: ["" : 21]> inner (a, low) => (b) { h = Clip (a, low)  b = Relu (h) }
    <domain: "local", opset_import: ["" : 21]> twice (a) => (a, b) { b = Neg (a) })");
  CHECK(dump(*model.graph) ==
        "(%x:float32[4], %c:bool[]) -> (%y, %p, %q)\n"
        "  %y:float32[4] = If<then_branch=body, else_branch=body>(%c)\n"
        "    body () -> (%t)\n"
        "      %h = Clip(%x, _)\n"
        "      %t:float32[4] = Relu(%h)\n"
        "    body () -> (%e)\n"
        "      %e:float32[4] = Identity(%x)\n"
        "  %q:float32[4] = Neg(%x)\n"
        "  %p:float32[4] = Identity(%x)\n");
}

TEST_CASE("bodies inside a function see its inputs and attributes") {
  const Model model = inlined(R"(
    main (float[4] x, bool c) => (float[4] y) { y = local.choose <s = 2.0> (x, c) }
    <domain: "local", opset_import: ["" : 21]>
    choose <s> (a, c) => (b) {
      k = Constant <value_float: float = @s> ()
      b = If (c) <then_branch = t () => (float[4] m) { m = Mul (a, k) }, else_branch = e () => (float[4] n) { n = Neg (a) }>
    })");
  const Value* k = model.graph->nodes()[0]->output(0);
  REQUIRE(k->known_constant());
  CHECK(k->known_constant()->span<float>()[0] == 2.0f);
  CHECK(model.graph->nodes()[1]->bodies()[0]->nodes()[0]->input(0) == model.graph->find("x"));
}

TEST_CASE("a call that has bodies itself gives them to its function, with the calls in them replaced") {
  const Model model = inlined(R"(
    main (float[4] x, bool c) => (float[4] y, float[4] z) {
      y = local.pick <yes = t () => (float[4] m) { k = Constant <value_float: float = 2.0> ()  m = local.act (k) }> (c)
      z = local.act (y)
    }
    <domain: "local", opset_import: ["" : 21]>
    pick <yes> (c) => (b) {
      b = If (c) <then_branch: graph = @yes, else_branch: graph = @yes>
    }
    <domain: "local", opset_import: ["" : 21]> act (a) => (b) { h = Neg (a)  b = Relu (h) })");
  const Node& choice = *model.graph->nodes()[0];
  REQUIRE((choice.op == "If" && choice.bodies().size() == 2));
  for (const Graph* body : choice.bodies()) CHECK(body->outputs()[0]->producer->op == "Relu");
  CHECK(model.graph->nodes().size() == 3);
}

TEST_CASE("functions that expand to too many nodes are refused before any is made") {
  std::string text = "main (float[4] x) => (float[4] y) { y = local.f0 (x) }\n";
  for (int i = 0; i < 40; ++i) {
    const std::string next = "local.f" + std::to_string(i + 1);
    text += "<domain: \"local\", opset_import: [\"\" : 21, \"local\" : 1]> f" + std::to_string(i) +
            " (a) => (c) { b = " + next + " (a)  c = " + next + " (b) }\n";
  }
  Model model =
      parse_text(kHeader + text + "<domain: \"local\", opset_import: [\"\" : 21]> f40 (a) => (b) { b = Relu (a) }");
  CHECK(contains(error_of([&] { inline_functions(model); }), "too many nodes"));
  CHECK(model.graph->nodes()[0]->op == "f0");
}

TEST_CASE("functions that cannot be inlined are refused") {
  const auto error = [](const std::string& text) { return error_of([&] { inlined(text); }); };
  CHECK(contains(error(R"(
      main (float[4] x) => (float[4] y) { y = local.f (x) }
      <domain: "local", opset_import: ["local" : 1]> f (a) => (b) { b = local.f (a) })"),
                 "calls itself"));
  const std::string older = error(R"(
      main (float[4] x) => (float y) { y = local.f (x) }
      <domain: "local", opset_import: ["" : 11]> f (a) => (b) { b = ReduceSum <axes = [0]> (a) })");
  CHECK(contains(older, "ReduceSum of opset 11"));
  CHECK(contains(older, "convert --inline --opset"));
  CHECK(contains(error(R"(
      main (float[4] x) => (float[4] y) { y = local.f (x, x) }
      <domain: "local", opset_import: ["" : 21]> f (a) => (b) { b = Relu (a) })"),
                 "more inputs or outputs"));
}
