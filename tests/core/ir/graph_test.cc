#include "core/ir/graph.h"

#include "core/ir/verify.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using test::says;
using test::thrown_by;

namespace {

/// h is read twice by Add, by Neg and, in a body of a body, by Abs; y and z are outputs.
Model nested() {
  return parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21]>
    main (float[4] x, bool c) => (float[4] y, float[4] z) <float[4] w = {1, 2, 3, 4}> {
      h = Relu (x)
      y = Add (h, h)
      m = Neg (h)
      z = If (c) <then_branch = a () => (float[4] t) {
                    t = If (c) <then_branch = b () => (float[4] u) { u = Abs (h) },
                                else_branch = d () => (float[4] v) { v = Neg (w) }> },
                  else_branch = e () => (float[4] s) { s = Identity (m) }>
    })");
}

Node* maker(const Model& model, const char* name) { return model.graph->find(name)->producer; }

}  // namespace

TEST_CASE("uses count every reader, also those in nested bodies") {
  const Model model = nested();
  const Value* h = model.graph->find("h");
  CHECK(h->uses.size() == 4);
  CHECK(h->uses[0] == Use{maker(model, "y"), 0});
  CHECK(h->uses[1] == Use{maker(model, "y"), 1});
  CHECK(h->uses[3].node->is("Abs"));
  CHECK_FALSE(h->single_use());
  CHECK(model.graph->find("m")->single_use());
  CHECK_FALSE(model.graph->find("y")->single_use());
  CHECK(verify(model).empty());
}

TEST_CASE("replacing a value reaches its captures") {
  Model model = nested();
  Graph& g = *model.graph;
  Value *h = g.find("h"), *x = g.find("x");
  g.replace_uses(h, x);
  CHECK(h->uses.empty());
  CHECK(x->uses.size() == 5);  // the Relu itself reads it too
  g.erase(h->producer);
  CHECK_FALSE(g.find("h"));
  CHECK(verify(model).empty());
}

TEST_CASE("what replaces an output takes its name and what the file states of it") {
  Model model = nested();
  Graph& g = *model.graph;
  Node* add = maker(model, "y");
  g.find("y")->doc = "the answer";
  g.find("y")->metadata = {{"unit", "m"}};
  g.find("y")->unknown_fields = "kept";
  Value* two = g.add_constant("two", Tensor::of<float>({1}, {2}));
  Node* mul = g.add_op("Mul", {g.find("h"), two}, {}, add);
  g.replace_uses(add->output(0), mul->output(0));
  g.erase(add);
  CHECK(g.outputs()[0] == mul->output(0));
  CHECK(g.outputs()[0]->name == "y");
  CHECK(g.outputs()[0]->doc == "the answer");
  CHECK(g.outputs()[0]->metadata == decltype(Value::metadata){{"unit", "m"}});
  CHECK(g.outputs()[0]->unknown_fields == "kept");
  CHECK(g.outputs()[0]->type.static_dims() == Dims{4});
  CHECK(verify(model).empty());
}

TEST_CASE("a node goes with its bodies and what they read is free") {
  Model model = nested();
  Graph& g = *model.graph;
  g.set_output(1, g.find("m"));
  g.erase(maker(model, "z"));
  CHECK(g.find("h")->uses.size() == 3);
  CHECK(g.find("c")->uses.empty());
  CHECK(g.find("m")->uses.empty());
  CHECK_FALSE(g.find("z"));
  CHECK(verify(model).empty());
}

TEST_CASE("what is still used cannot be erased") {
  Model model = nested();
  Graph& g = *model.graph;
  CHECK(thrown_by([&] { g.erase(maker(model, "h")); }).code == Code::kInternal);
  CHECK(thrown_by([&] { g.erase(maker(model, "y")); }).code == Code::kInternal);  // an output
  CHECK(thrown_by([&] { g.erase(g.find("w")); }).code == Code::kInternal);
  CHECK(thrown_by([&] { g.erase(g.find("x")); }).code == Code::kInternal);
  CHECK(verify(model).empty());
}

TEST_CASE("inputs of a node change one by one, grow and shrink") {
  Model model = nested();
  Graph& g = *model.graph;
  Node* neg = maker(model, "m");
  g.set_input(neg, 0, g.find("x"));
  CHECK(g.find("h")->uses.size() == 3);
  g.set_input(neg, 2, g.find("w"));
  CHECK(neg->inputs().size() == 3);
  CHECK_FALSE(neg->input(1));
  g.resize_inputs(neg, 1);
  CHECK(neg->inputs().size() == 1);
  CHECK(g.find("w")->uses.size() == 1);
  CHECK(verify(model).empty());
}

TEST_CASE("outputs that nothing uses are dropped, trailing ones altogether") {
  Graph g;
  Value* x = g.add_input("x", Type::tensor(DType::kF32));
  Node* node = g.add_op("Split", {x}, {}, nullptr, "part", 3);
  g.drop_output(node, 1);
  CHECK(node->outputs().size() == 3);
  CHECK_FALSE(node->output(1));
  g.drop_output(node, 2);
  CHECK(node->outputs().size() == 1);
  g.add_output(node->output(0));
  CHECK(thrown_by([&] { g.drop_output(node, 0); }).code == Code::kInternal);
}

TEST_CASE("inputs and outputs that are removed make place for the later ones") {
  Graph g;
  Value *x = g.add_input("x", Type::tensor(DType::kF32)), *y = g.add_input("y", Type::tensor(DType::kF32));
  Node* node = g.add_op("Any", {x, y, x}, {}, nullptr, "part", 3);
  g.remove_input(node, 0);
  CHECK(node->inputs() == std::vector<Value*>{y, x});
  CHECK(x->uses == std::vector<Use>{{node, 1}});
  Value *second = node->output(1), *third = node->output(2);
  g.remove_output(node, 0);
  CHECK(node->outputs() == std::vector<Value*>{second, third});
  CHECK(third->output_index == 1);
  g.remove_output(node, 5);
  CHECK(node->outputs().size() == 2);
  g.add_output(second);
  g.add_output(third);
  g.remove_output(0);
  CHECK(g.outputs() == std::vector<Value*>{third});
  CHECK_FALSE(second->is_output());
}

TEST_CASE("names stay unique over the graph, around it and in its bodies") {
  Model model = nested();
  Graph& g = *model.graph;
  CHECK(g.fresh_name("free") == "free");
  CHECK(g.fresh_name("x") == "x_1");
  CHECK(g.fresh_name("u") != "u");  // a body's
  std::string again = "x";          // named after one another, values get other numbers, not more of them
  for (int i = 0; i < 50; ++i) again = g.add_constant(again, Tensor::scalar(1.0f))->name;
  CHECK(again.size() < 8);
  Graph* body = maker(model, "z")->bodies()[0];
  CHECK(body->fresh_name("x") != "x");  // the enclosing graph's
  CHECK(body->lookup("h") == g.find("h"));
  CHECK_FALSE(body->find("h"));
  CHECK(g.add_constant("x", Tensor::scalar(1.0f))->name != "x");
  CHECK(says(thrown_by([&] { g.add_value("x"); }), "one name"));
  CHECK(thrown_by([&] { g.rename(g.find("w"), "x"); }).code == Code::kInternal);
  g.rename(g.find("w"), "weights");
  CHECK((g.find("weights") && !g.find("w")));
}

TEST_CASE("a value has one producer") {
  Graph g;
  Value* x = g.add_input("x", Type::tensor(DType::kF32));
  Value* y = g.add_op("Relu", {x})->output(0);
  CHECK(thrown_by([&] { g.add_node("", "Neg", {x}, {y}); }).code == Code::kInternal);
  CHECK(thrown_by([&] { g.add_node("", "Neg", {y}, {x}); }).code == Code::kInternal);
}

TEST_CASE("the schedule is walked node by node") {
  const Model model = nested();
  const Graph& g = *model.graph;
  const Node* first = g.next(nullptr);
  REQUIRE(first == maker(model, "h"));
  CHECK(g.next(first) == maker(model, "y"));
  CHECK_FALSE(g.next(maker(model, "z")));
  CHECK_FALSE(Graph().next(nullptr));
}

// Takes some 0.1 s; half a minute where each edit walks nodes or values.
TEST_CASE("a large graph is edited") {
  constexpr int kNodes = 40000;
  Graph g;
  Value* x = g.add_input("x", Type::tensor(DType::kF32));
  Value* y = x;
  for (int i = 0; i < kNodes; ++i) y = g.add_op("Add", {y, y})->output(0);
  g.add_output(y);
  for (Node* node : g.nodes()) {
    if (node->output(0) == y) continue;
    g.replace_uses(node->output(0), x);
    g.erase(node);
  }
  CHECK(g.node_count() == 1);
  CHECK(x->uses.size() == 2);
}
