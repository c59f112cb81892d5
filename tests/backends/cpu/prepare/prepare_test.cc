#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

bool has(const std::string& ops, const std::string& op) { return ops.find(op) != std::string::npos; }

}  // namespace

TEST_CASE("a quantized residual network runs on integers from end to end") {
  Net net;
  Value* x = net.rounded(net.input({1, 3, 12, 12}), 2.0 / 255, 128);
  Value* a = net.rounded(net.op("Relu", {net.conv(x, 3, 8)}), 0.02, 0);
  a = net.rounded(
      net.op("MaxPool", {a},
             {{"kernel_shape", std::vector<int64_t>{2, 2}, ""}, {"strides", std::vector<int64_t>{2, 2}, ""}}),
      0.02, 0);
  Value* b = net.rounded(net.conv(a, 8, 8), 0.04, 120);
  Value* sum = net.rounded(net.op("Relu", {net.op("Add", {a, b})}), 0.03, 0);
  Value* both = net.rounded(net.op("Concat", {sum, b}, {{"axis", int64_t{1}, ""}}), 0.04, 100);
  Value* mean = net.rounded(net.op("GlobalAveragePool", {both}), 0.01, 100);
  Value* row = net.rounded(net.op("Flatten", {mean}), 0.01, 100);
  net.output(
      net.op("Gemm", {row, net.weights({5, 16}, 0), net.constant(uniform({5}, -1, 1))}, {{"transB", int64_t{1}, ""}}));
  REQUIRE(prepared_ops(net.model) ==
          "Flatten 1, MaxPool 1, QGemm 1, QLinearAdd 1, QLinearConcat 1, QLinearConv 2, QLinearGlobalAveragePool 1, "
          "QuantizeLinear 1");
  require_same_result(net.model, 0.02);  // a few steps of the last average, 0.01 each, times weights below 0.5
}

TEST_CASE("what integers cannot say stays float") {
  SECTION("an activation that cuts within the output's steps") {
    Net net;
    Value* x = net.rounded(net.input({1, 3, 6, 6}), 2.0 / 255, 128);
    net.output(net.rounded(net.op("Relu", {net.conv(x, 3, 4)}), 0.02, 128));
    REQUIRE(!has(prepared_ops(net.model), "QLinearConv"));
    require_same_result(net.model, 0.0201);
  }
  SECTION("a convolution whose result is read elsewhere too") {
    Net net;
    Value* y = net.conv(net.rounded(net.input({1, 3, 6, 6}), 2.0 / 255, 128), 3, 4);
    net.output(net.rounded(y, 0.02, 128));
    net.output(y);
    REQUIRE(!has(prepared_ops(net.model), "QLinearConv"));
    require_same_result(net.model, 0.0201);
  }
  SECTION("moved elements that get other steps") {
    Net net;
    Value* x = net.rounded(net.input({2, 6}), 2.0 / 255, 128);
    net.output(net.rounded(net.op("Flatten", {x}), 0.01, 100));
    REQUIRE(has(prepared_ops(net.model), "QuantizeLinear 2"));
    require_same_result(net.model, 0.0101);
  }
}

TEST_CASE("the rotation of heads by positions is one step") {
  Net net;
  Value* x = net.input({1, 2, 6, 8});
  Value* angles = net.constant(uniform({6, 4}, -3, 3));
  const auto last = [](int64_t axis) { return std::vector<Attr>{{"axis", axis, ""}}; };
  Value* both = net.op("Concat", {angles, angles}, last(1));
  const auto half = [&](int64_t from) {
    return net.op("Slice", {x, net.constant(Tensor::ints({from})), net.constant(Tensor::ints({from + 4})),
                            net.constant(Tensor::ints({3}))});
  };
  Value* a = half(0);
  Value* turned = net.op("Concat", {net.op("Neg", {half(4)}), a}, last(3));
  net.output(
      net.op("Add", {net.op("Mul", {x, net.op("Cos", {both})}), net.op("Mul", {turned, net.op("Sin", {both})})}));
  CHECK(prepared_ops(net.model) == "Cos 1, RotaryEmbedding 1, Sin 1");
  require_same_result(net.model, 1e-5);
}

TEST_CASE("Clip within the output's steps goes") {
  for (const double most : {6.0, 4.0}) {
    Net net;
    Value* x = net.rounded(net.input({1, 3, 6, 6}), 2.0 / 255, 128);
    Value* clipped =
        net.op("Clip", {net.conv(x, 3, 4), net.constant(tensor({}, {0})), net.constant(tensor({}, {most}))});
    net.output(net.rounded(clipped, 6.0 / 255, 0));
    REQUIRE(has(prepared_ops(net.model), "QLinearConv") == (most == 6.0));
    require_same_result(net.model, 0.024);
  }
}

TEST_CASE("products of quantized matrices run on integers") {
  Net net;
  Value* x = net.rounded(net.input({2, 5, 16}), 2.0 / 255, 128);
  Value* a = net.rounded(net.op("MatMul", {x, net.weights({16, 8}, 1)}), 0.02, 128);
  Value* b = net.op("Add", {net.op("MatMul", {a, net.weights({8, 6}, 1)}), net.constant(uniform({6}, -1, 1))});
  net.output(b);
  net.output(net.op("MatMul", {a, net.weights({8, 3}, 1)}));
  REQUIRE(prepared_ops(net.model) == "MatMulIntegerToFloat 2, QLinearMatMul 1, QuantizeLinear 1");
  require_same_result(net.model, 0.02);
}

TEST_CASE("elementwise operators between bytes run on integers") {
  Net net;
  Value* x = net.rounded(net.input({2, 3, 4, 4}), 2.0 / 255, 128);
  Value* s = net.rounded(net.op("Sigmoid", {x}), 1.0 / 255, 0);
  net.output(net.rounded(net.op("Mul", {x, s}), 0.008, 128));
  net.output(net.rounded(net.op("LeakyRelu", {x}), 0.01, 30));
  REQUIRE(prepared_ops(net.model) ==
          "DequantizeLinear 2, QLinearLeakyRelu 1, QLinearMul 1, QLinearSigmoid 1, QuantizeLinear 1");
  require_same_result(net.model, 0.0101);
}

}  // namespace mlopt::test
