#include "core/train/constants.h"

#include "core/ir/constant.h"
#include "core/ir/verify.h"
#include "core/onnx/io.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

/// x W + b, the weights in Constant nodes or not.
Net product(bool in_nodes) {
  Net net;
  Value* x = net.input({2, 3});
  const auto weights = [&](Tensor tensor) {
    if (!in_nodes) return net.constant(std::move(tensor));
    Value* made = net.op("Constant", {}, {attr("value", tensor)});
    note_constant(*made->producer);
    return made;
  };
  Value* y = net.op("MatMul", {x, weights(uniform({3, 4}, -1, 1))});
  net.output(net.op("Add", {y, net.op("Constant", {}, {attr("value", uniform({4}, -1, 1))})}));
  for (Node* node : net.graph().nodes())
    if (node->is("Constant")) note_constant(*node);
  return net;
}

}  // namespace

TEST_CASE("weights in Constant nodes become initializers") {
  Net net = product(true);
  train::constants_to_initializers(net.model);
  verify(net.model);
  CHECK(listed_ops(net.model) == "Add 1, MatMul 1");
  CHECK(net.graph().initializers().size() == 2);
}

TEST_CASE("weights in branches become initializers of the model, names that two branches use too") {
  Model model = parse_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    net (float[2,2] x, bool c) => (float[2,2] y) {
      y = If (c) <then_branch = t () => (float[2,2] p) {
                    w = Constant <value = float[2,2] {1, 2, 3, 4}> ()  p = MatMul (x, w) },
                  else_branch = e () => (float[2,2] q) {
                    w = Constant <value = float[2,2] {5, 6, 7, 8}> ()  q = MatMul (x, w) }>
    })");
  const Model source = clone(model);
  train::constants_to_initializers(model);
  verify(model);
  REQUIRE(model.graph->initializers().size() == 2);
  const Model written = read_model_bytes(write_model_bytes(model));
  CHECK(written.graph->initializers().size() == 2);
  CHECK(changed_by(source, written).max_abs == 0);
}

TEST_CASE("of a model with other weights, Constant nodes that layers read become initializers") {
  Net net = product(false);
  train::constants_to_initializers(net.model);
  CHECK(listed_ops(net.model) == "Add 1, MatMul 1");
  Model model = fixture(R"(g (float[2,2,3,3] x, float[2,2,1,1] V, float[2] S) => (float[2,2,3,3] y) {
    m = Constant <value = float[2] {1, 2}> ()  v = Constant <value = float[2] {3, 4}> ()
    k = Constant <value = float[3] {5, 6, 7}> ()
    a = Conv (x, V)  b = BatchNormalization (a, S, S, m, v)  y = Mul (b, k)
  })");
  const Model source = clone(model);
  train::constants_to_initializers(model);
  verify(model);
  CHECK(operators(*model.graph) == "Constant Conv BatchNormalization Mul");
  CHECK(changed_by(source, model).max_abs == 0);
}

TEST_CASE("a mask of attention stays a setting, beside the bias of a product with a weight") {
  Model model = fixture(R"(g (float[2,3] x, float[3,3] W, int8[3,3] Q, float S) => (float[2,2] y) {
    k = Constant <value = float[3] {1, 2, 3}> ()  l = Constant <value = float[3] {1, 2, 3}> ()
    m = Constant <value = float[2,2] {0, -100, 0, 0}> ()
    q = MatMul (x, W)  a = Add (q, k)
    v = DequantizeLinear (Q, S)  b = MatMul (a, v)  c = Add (b, l)
    t = Transpose (x)  s = MatMul (c, t)  y = Add (s, m)
  })");
  train::constants_to_initializers(model);
  verify(model);
  for (const char* name : {"k", "l"}) CHECK(model.graph->find(name)->is_initializer());
  CHECK(!model.graph->find("m")->is_initializer());
}

TEST_CASE("where a recurrent layer begins stays a setting") {
  Model model = fixture(R"(g (float[2,1,3] x, float[1,8,3] W, float[1,8,2] R, int32[1] L) => (float[1,1,2] y) {
    p = Constant <value = float[1,6] {1, 2, 3, 4, 5, 6}> ()
    b = Constant <value = float[1,16] {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}> ()
    h = Constant <value = float[1,1,2] {1, 2}> ()  c = Constant <value = float[1,1,2] {3, 4}> ()
    s, y = LSTM <hidden_size = 2> (x, W, R, b, L, h, c, p)
  })");
  train::constants_to_initializers(model);
  verify(model);
  for (const char* name : {"b", "p"}) CHECK(model.graph->find(name)->is_initializer());
  for (const char* name : {"h", "c"}) CHECK(!model.graph->find(name)->is_initializer());
}

}  // namespace mlopt::test
