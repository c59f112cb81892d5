#include "core/ir/graph.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

Model nested() {
  return parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21]>
    main (float[4] x, bool c) => (float[4] z) {
      h = Relu (x)
      z = If (c) <then_branch = a () => (float[4] t) {
                    own = Abs (x)
                    t = If (c) <then_branch = b () => (float[4] u) { u = Add (h, own) },
                                else_branch = d () => (float[4] v) { v = Neg (h) }> },
                  else_branch = e () => (float[4] s) { s = Identity (x) }>
    })");
}

std::vector<std::string> names(const std::vector<Value*>& values) {
  std::vector<std::string> found;
  for (const Value* value : values) found.push_back(value->name);
  return found;
}

}  // namespace

TEST_CASE("all nodes are walked outer before inner, in schedule order") {
  const Model model = nested();
  std::vector<std::string> ops;
  for (const Node* node : all_nodes(*model.graph)) ops.push_back(node->op);
  CHECK(ops == std::vector<std::string>{"Relu", "If", "Abs", "If", "Add", "Neg", "Identity"});
}

TEST_CASE("a body captures what it and its bodies read from outside") {
  const Model model = nested();
  const std::vector<Graph*> bodies = model.graph->nodes()[1]->bodies();
  CHECK(names(captures(*bodies[0])) == std::vector<std::string>{"x", "c", "h"});
  CHECK(names(captures(*bodies[1])) == std::vector<std::string>{"x"});
  const Graph* inner = bodies[0]->nodes()[1]->bodies()[0];
  CHECK(names(captures(*inner)) == std::vector<std::string>{"h", "own"});
  CHECK(captures(*model.graph).empty());
}

TEST_CASE("attributes are set, changed and removed by name") {
  Graph g;
  Node* node = g.add_op("Conv", {});
  node->set_attr("group", int64_t{2});
  node->set_attr("group", int64_t{4});
  node->set_attr("auto_pad", std::string("VALID"));
  REQUIRE(node->attrs.size() == 2);
  CHECK(std::get<int64_t>(node->attr("group")->value) == 4);
  node->remove_attr("group");
  CHECK_FALSE(node->attr("group"));
}

TEST_CASE("a node is named by its name, else by what it gives") {
  Graph g;
  Node* node = g.add_op("Gelu", {}, {}, nullptr, "hidden", 1, "com.microsoft");
  CHECK(node->label() == "com.microsoft.Gelu giving 'hidden'");
  CHECK(node->called() == "hidden");
  node->name = "ffn/act";
  CHECK(node->label() == "com.microsoft.Gelu 'ffn/act'");
  CHECK(node->called() == "ffn/act");
  CHECK(node->is("Gelu", "com.microsoft"));
  CHECK_FALSE(node->is("Gelu"));
}

TEST_CASE("a node whose first outputs are omitted is named by the first that it gives") {
  Graph g;
  Value* state = g.add_value("last_state");
  const Node* node = g.add_node("", "LSTM", {}, {nullptr, state});
  CHECK(node->first_output() == state);
  CHECK(node->called() == "last_state");
  CHECK(node->label() == "LSTM giving 'last_state'");
}
