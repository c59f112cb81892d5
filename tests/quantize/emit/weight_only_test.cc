#include "quantize/emit/weight_only.h"

#include "core/ir/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::quantize {
namespace {

using test::Net;

Value* weight(Net& net, const Dims& dims) {
  return net.constant(test::uniform(dims, -0.3, 0.3, DType::kF32, net.graph().node_count() + 3));
}

int64_t weight_bytes(const Model& model) {
  size_t bytes = 0;
  for (const Value* v : model.graph->initializers()) bytes += v->constant->bytes();
  return static_cast<int64_t>(bytes);
}

/// A table, a convolution, a matrix product and a Gemm with transposed weights.
Net mixed() {
  Net net;
  Value* ids = net.graph().add_input("ids", Type::tensor(DType::kI64, Dims{1, 8}));
  Value* table = net.op("Gather", {weight(net, {50, 32}), ids});
  Value* x = net.op("Transpose", {table}, {{"perm", std::vector<int64_t>{0, 2, 1}, ""}});
  x = net.op("Conv", {x, weight(net, {48, 32, 3}), weight(net, {48})});
  x = net.op("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 1}, ""}});
  x = net.op("MatMul", {x, weight(net, {48, 64})});
  x = net.op("Reshape", {x, net.constant(Tensor::ints({6, 64}))});
  net.output(net.op("Gemm", {x, weight(net, {40, 64}), weight(net, {40})}, {{"transB", int64_t{1}, ""}}));
  return net;
}

}  // namespace

TEST_CASE("weights are stored in a quarter of their size, with a scale for each output channel") {
  Net net = mixed();
  infer(net.model);
  Model model = clone(net.model);
  const Emitted done = emit_weight_only(model, parse_spec("w8"));
  REQUIRE(done.layers.size() == 4);
  REQUIRE(test::changed_by(net.model, model).sqnr_db > 35);
  REQUIRE(weight_bytes(model) < 0.31 * static_cast<double>(weight_bytes(net.model)));
  std::vector<int64_t> scales;
  for (const Node* node : model.graph->nodes())
    if (node->op == "DequantizeLinear") scales.push_back(node->input(1)->constant->size());
  std::sort(scales.begin(), scales.end());
  REQUIRE(scales == std::vector<int64_t>{40, 48, 50, 64});
}

TEST_CASE("a weight that readers see along different axes has one scale") {
  Net net;
  Value* ids = net.graph().add_input("ids", Type::tensor(DType::kI64, Dims{4}));
  Value* w = weight(net, {40, 32});
  Value* x = net.op("Gather", {w, ids});
  net.output(net.op("Gemm", {x, w}, {{"transB", int64_t{1}, ""}}));
  Value* y = net.op("MatMul", {net.constant(test::uniform({2, 40}, -1, 1)), w});
  net.output(y);
  infer(net.model);
  Model model = clone(net.model);
  emit_weight_only(model, parse_spec("w8"));
  REQUIRE(test::listed_ops(model) == "DequantizeLinear 1, Gather 1, Gemm 1, MatMul 1");
  for (const Node* node : model.graph->nodes())
    if (node->op == "DequantizeLinear") REQUIRE(node->input(1)->constant->rank() == 0);
  REQUIRE(test::changed_by(net.model, model).sqnr_db > 30);
}

TEST_CASE("recurrent layers store both of their weights") {
  Net net;
  Value* x = net.input({3, 2, 16});
  Node* lstm = net.graph().add_op("LSTM", {x, weight(net, {1, 128, 16}), weight(net, {1, 128, 32})},
                                  {{"hidden_size", int64_t{32}, ""}}, nullptr, "lstm", 2);
  net.output(lstm->output(1));
  net.graph().drop_output(lstm, 0);
  infer(net.model);
  Model model = clone(net.model);
  const Emitted done = emit_weight_only(model, parse_spec("w8"));
  REQUIRE(done.layers.size() == 1);
  REQUIRE(test::listed_ops(model) == "DequantizeLinear 2, LSTM 1");
  REQUIRE(test::changed_by(net.model, model).sqnr_db > 35);
}

TEST_CASE("small weights and excluded layers keep theirs") {
  Net net;
  Value* x = net.op("MatMul", {net.input({2, 16}), weight(net, {16, 16})});
  x = net.op("MatMul", {x, weight(net, {16, 128})});
  x->producer->name = "head";
  net.output(x);
  infer(net.model);
  Model model = clone(net.model);
  const Emitted done = emit_weight_only(model, parse_spec("w8:skip=head"));
  REQUIRE(done.layers.empty());
  REQUIRE(done.left.size() == 2);
  REQUIRE(test::changed_by(net.model, model).max_abs == 0);
}

TEST_CASE("bfloat16 weights are stored in half of their size and computed in float32") {
  Net net = mixed();
  infer(net.model);
  Model model = clone(net.model);
  emit_bf16_storage(model, parse_spec("bf16"));
  const Difference d = test::changed_by(net.model, model);
  REQUIRE(d.sqnr_db > 45);
  REQUIRE(d.max_abs > 0);
  REQUIRE(weight_bytes(model) < 0.52 * static_cast<double>(weight_bytes(net.model)));
}

}  // namespace mlopt::quantize
