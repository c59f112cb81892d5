#include "core/ir/dump.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using mlopt::test::contains;
using mlopt::test::error_of;

namespace {

std::string order(const Model& model) {
  std::string text;
  for (const Node* node : model.graph->nodes()) text += node->output(0)->name + " ";
  return text;
}

}  // namespace

TEST_CASE("sorting moves only what must move, and sees what bodies read") {
  const Model model = parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21]>
    main (float[1] x, bool c) => (float[1] y) {
      first = Neg (x)
      y = If (c) <then_branch = a () => (float[1] t) { t = Neg (later) }, else_branch = b () => (float[1] e) { e = Neg (x) }>
      other = Neg (first)
      later = Neg (x)
    })");
  CHECK(order(model) == "first other later y ");
  REQUIRE(model.mended.size() == 1);
}

TEST_CASE("cycles are errors, through bodies too") {
  const auto error = [](const std::string& body) {
    return error_of([&] { parse_text("<ir_version: 10, opset_import: [\"\" : 21]> main " + body); });
  };
  CHECK(contains(error("(float[1] x) => (float[1] y) { y = Add (x, z)  z = Neg (y) }"), "cycle"));
  CHECK(contains(error("(float[1] x) => (float[1] y) { y = Add (y, x) }"), "cycle"));
  CHECK(contains(error(R"((bool c) => (float[1] y) { y = If (c) <
      then_branch = a () => (float[1] t) { t = Neg (y) }, else_branch = b () => (float[1] e) { e = Neg (y) }> })"),
                 "cycle"));
}

TEST_CASE("a long chain the wrong way round is sorted quickly") {
  constexpr int kNodes = 20'000;
  Model model = parse_text("<ir_version: 10, opset_import: [\"\" : 21]> main (float[1] v0) => (float[1] v0) { }");
  Graph& g = *model.graph;
  for (int i = 1; i <= kNodes; ++i) g.add_value("v" + std::to_string(i));
  for (int i = kNodes; i > 0; --i)
    g.add_node("", "Neg", {g.find("v" + std::to_string(i - 1))}, {g.find("v" + std::to_string(i))});
  g.sort();
  CHECK(g.nodes().front()->output(0)->name == "v1");
  CHECK(g.nodes().back()->output(0)->name == "v" + std::to_string(kNodes));
}
