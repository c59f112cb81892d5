#include "quantize/emit/qoperator.h"

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::quantize {
namespace {

using test::Net;

/// The network in operator form, whose outputs are within `tolerance` of the QDQ form on both backends.
Model emitted(const Net& net, double tolerance, const char* spec = "w8a8:emit=qoperator") {
  Model model = clone(net.model);
  infer(model);
  const Model before = clone(model);
  emit_qoperator(model, parse_spec(spec));
  REQUIRE(test::changed_by(before, model).max_abs <= tolerance);
  test::require_same_result(model, tolerance);
  return model;
}

std::vector<Attr> window() {
  return {{"kernel_shape", std::vector<int64_t>{2, 2}, ""}, {"strides", std::vector<int64_t>{2, 2}, ""}};
}

/// Conv, pools, Add, Concat, moves and a Gemm, all of them between rounded values.
Net residual() {
  Net net;
  Value* x = net.rounded(net.input({1, 3, 16, 16}), 2.0 / 255, 128);
  Value* a = net.rounded(net.op("Relu", {net.conv(x, 3, 8)}), 0.02, 0);
  a = net.rounded(net.op("MaxPool", {a}, window()), 0.02, 0);
  a = net.rounded(net.op("AveragePool", {a}, window()), 0.02, 0);
  Value* b = net.rounded(net.conv(a, 8, 8), 0.04, 120);
  Value* sum = net.rounded(net.op("Add", {a, b}), 0.04, 120);
  Value* both = net.rounded(net.op("Concat", {sum, b}, {{"axis", int64_t{1}, ""}}), 0.04, 100);
  Value* mean = net.rounded(net.op("GlobalAveragePool", {both}), 0.02, 100);
  Value* row = net.rounded(net.op("Flatten", {mean}), 0.02, 100);
  net.output(net.op("Gemm", {row, net.weights({5, 16}, 0), net.constant(test::uniform({5}, -1, 1))},
                    {{"transB", int64_t{1}, ""}}));
  return net;
}

}  // namespace

TEST_CASE("a network of convolutions runs on codes from its input to its last product") {
  const Model model = emitted(residual(), 0.04);
  REQUIRE(test::listed_ops(model) ==
          "Flatten 1, MaxPool 1, QGemm 1, QLinearAdd 1, QLinearAveragePool 1, QLinearConcat 1, QLinearConv 2, "
          "QLinearGlobalAveragePool 1, QuantizeLinear 1");
  REQUIRE(model.opset("com.microsoft") == 1);
}

TEST_CASE("the plain standard has operators of its own only") {
  const Model model = emitted(residual(), 0.04, "w8a8:emit=qoperator;target=onnx");
  for (const Node* node : model.graph->nodes()) REQUIRE(node->domain.empty());
  REQUIRE(model.opset("com.microsoft") == 0);
  REQUIRE(test::listed_ops(model).find("QLinearConv 2") != std::string::npos);
}

TEST_CASE("matrix products, elementwise operators and moves run on codes") {
  Net net;
  Value* x = net.rounded(net.input({2, 6, 16}), 2.0 / 255, 128);
  Value* a = net.rounded(net.op("MatMul", {x, net.weights({16, 8}, 1)}), 0.02, 128);
  Value* s = net.rounded(net.op("Sigmoid", {a}), 1.0 / 255, 0);
  Value* y = net.rounded(net.op("Mul", {a, s}), 0.02, 128);
  y = net.rounded(net.op("LeakyRelu", {y}), 0.02, 30);
  y = net.rounded(net.op("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1}, ""}}), 0.02, 30);
  net.output(net.op("MatMul", {y, net.weights({6, 4}, 1)}));
  net.output(net.op("Softmax", {y}));
  REQUIRE(test::listed_ops(emitted(net, 0.025)) ==
          "DequantizeLinear 1, MatMulIntegerToFloat 1, QLinearLeakyRelu 1, QLinearMatMul 1, QLinearMul 1, "
          "QLinearSigmoid 1, QuantizeLinear 1, Softmax 1, Transpose 1");
}

TEST_CASE("the parts of a Split are codes") {
  Net net;
  Value* x = net.rounded(net.input({1, 8, 6, 6}), 2.0 / 255, 128);
  Node* split =
      net.graph().add_op("Split", {x}, {{"axis", int64_t{1}, ""}, {"num_outputs", int64_t{2}, ""}}, nullptr, "half", 2);
  Value* a = net.rounded(split->output(0), 2.0 / 255, 128);
  Value* b = net.rounded(net.conv(net.rounded(split->output(1), 2.0 / 255, 128), 4, 4), 0.02, 128);
  net.output(net.rounded(net.op("Concat", {a, b}, {{"axis", int64_t{1}, ""}}), 0.02, 128));
  REQUIRE(test::listed_ops(emitted(net, 0.0201)) ==
          "DequantizeLinear 1, QLinearConcat 1, QLinearConv 1, QuantizeLinear 1, Split 1");
}

TEST_CASE("a Split with a part of other steps stays as it is") {
  Net net;
  Value* x = net.rounded(net.input({1, 8, 4}), 2.0 / 255, 128);
  Node* split =
      net.graph().add_op("Split", {x}, {{"axis", int64_t{1}, ""}, {"num_outputs", int64_t{2}, ""}}, nullptr, "half", 2);
  net.output(net.rounded(split->output(0), 2.0 / 255, 128));
  net.output(net.rounded(split->output(1), 0.02, 128));
  REQUIRE(test::listed_ops(emitted(net, 0.0201)) == "DequantizeLinear 3, QuantizeLinear 3, Split 1");
}

TEST_CASE("operators keep their names") {
  Net net;
  Value* y = net.conv(net.rounded(net.input({1, 3, 6, 6}), 2.0 / 255, 128), 3, 4);
  y->producer->name = "/stem/conv";
  net.output(net.rounded(y, 0.02, 128));
  const Model model = emitted(net, 0.0201);
  for (const Node* node : model.graph->nodes())
    if (node->op == "QLinearConv") REQUIRE(node->name == "/stem/conv");
  REQUIRE(test::listed_ops(model) == "DequantizeLinear 1, QLinearConv 1, QuantizeLinear 1");
}

}  // namespace mlopt::quantize
