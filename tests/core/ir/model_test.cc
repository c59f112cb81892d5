#include "core/ir/model.h"

#include "core/ir/dump.h"
#include "core/ir/verify.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

Model sample() {
  return parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21, "local" : 1], producer_name: "p", doc_string: "d">
    main (float[4] x, bool c) => (float[4] y) <float[4] w = {1, 2, 3, 4}> {
      h = local.Twice (x)
      y = If (c) <then_branch = a () => (float[4] t) { t = Add (h, w) }, else_branch = b () => (float[4] e) { e = Neg (h) }>
    }
    <domain: "local", opset_import: ["" : 21]> Twice (v) => (r) { r = Add (v, v) })");
}

}  // namespace

TEST_CASE("a copy is the same model and shares no node") {
  Model model = sample();
  model.metadata = {{"key", "value"}};
  model.graph->find("h")->doc = "noted";
  const Model copy = clone(model);
  CHECK(dump(*copy.graph) == dump(*model.graph));
  CHECK(write_model_bytes(copy) == write_model_bytes(model));
  CHECK(verify(copy).empty());
  CHECK(copy.graph->find("w")->constant->raw() == model.graph->find("w")->constant->raw());
  const std::string before = dump(*copy.graph);
  Graph& g = *model.graph;
  g.replace_uses(g.find("h"), g.find("x"));
  g.find("w")->constant->mutable_data<float>()[0] = 9;
  model.functions[0].body->nodes()[0]->op = "Mul";
  CHECK(dump(*copy.graph) == before);
  CHECK(copy.functions[0].body->nodes()[0]->op == "Add");
}

TEST_CASE("a copied body reads the copies of what it captures") {
  const Model model = sample(), copy = clone(model);
  const Node* add = copy.graph->nodes()[1]->bodies()[0]->nodes()[0];
  CHECK(add->input(0) == copy.graph->find("h"));
  CHECK(add->graph()->owner == copy.graph->nodes()[1]);
}

TEST_CASE("the two names of the standard's domain are one") {
  Model model;
  model.opsets = {{"ai.onnx", 17}};
  CHECK(model.opset() == 17);
  CHECK(model.opset("ai.onnx") == 17);
  CHECK(model.opset("com.microsoft") == 0);
  model.set_opset("", 18);
  model.set_opset("com.microsoft", 1);
  REQUIRE(model.opsets.size() == 2);
  CHECK(model.opsets[0].version == 18);
}
