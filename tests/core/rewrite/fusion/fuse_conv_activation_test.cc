#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {

TEST_CASE("an activation joins the convolution before it") {
  for (const char* act : {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "HardSwish", "Swish", "Clip"}) {
    Net net;
    Value* y = net.op("Conv", {net.input({1, 3, 6, 6}), net.constant(uniform({4, 3, 3, 3}, -1, 1))});
    std::vector<Value*> inputs{y};
    if (std::string(act) == "Clip")
      inputs.insert(inputs.end(), {net.constant(tensor({}, {-0.5})), net.constant(tensor({}, {0.7}))});
    net.output(net.op(act, inputs));
    INFO(act);
    REQUIRE(prepared_ops(net.model) == "FusedConv 1");
    require_same_result(net.model, 1e-5);
  }
}

TEST_CASE("an activation stays by itself where the convolution is read elsewhere, or its limits are not constant") {
  Net net;
  Value* w = net.constant(uniform({4, 3, 3, 3}, -1, 1));
  Value* y = net.op("Conv", {net.input({1, 3, 6, 6}), w});
  net.output(net.op("Relu", {y}));
  net.output(y);
  REQUIRE(prepared_ops(net.model) == "Conv 1, Relu 1");
  Net moving;
  Value* low = moving.graph().add_input("low", Type::tensor(DType::kF32, Dims{}));
  y = moving.op("Conv", {moving.input({1, 3, 6, 6}), moving.constant(uniform({4, 3, 3, 3}, -1, 1))});
  moving.output(moving.op("Clip", {y, low}));
  REQUIRE(prepared_ops(moving.model) == "Clip 1, Conv 1");
  require_same_result(moving.model, 1e-5);
}

TEST_CASE("what is written for ONNX Runtime takes the activations that it joins itself") {
  const auto graph = [](const std::string& activation) {
    return "g (float[N,3,6] x, float[4,3,3] W, float[4] B) => (float[N,4,4] y) "
           "<float low = {-0.5}, float high = {0.25}> { c = Conv (x, W, B)  y = " +
           activation + " }";
  };
  for (const char* act : {"Relu (c)", "Sigmoid (c)", "Tanh (c)", "LeakyRelu <alpha = 0.2> (c)", "Clip (c, low, high)",
                          "HardSigmoid <alpha = 0.3, beta = 0.4> (c)"}) {
    INFO(act);
    CHECK(rewritten(fusion::fuse_conv_activation, graph(act), 17, 1e-6, Target::kOrt) == "FusedConv");
  }
  CHECK(declined(fusion::fuse_conv_activation, graph("HardSwish (c)"), 17, Target::kOrt) ==
        "ONNX Runtime does not join HardSwish");
  CHECK(declined(fusion::fuse_conv_activation, graph("Relu (c)"), 17) == "only ONNX Runtime has it");
}

TEST_CASE("for ONNX Runtime, an activation stays that the QuantizeLinear behind it absorbs") {
  const auto quantized = [](const std::string& activation, const std::string& x = "s, z") {
    return "g (uint8[N,3,6] q, float[N,3,6] f, float[4,3,3] W, float[4] B) => (uint8[N,4,4] y) <float s = {0.25}, "
           "uint8 z = {128}, uint8 none = {0}, float low = {0}, float high = {6}> { x = " +
           (x.empty() ? "Relu (f)" : "DequantizeLinear (q, " + x + ")") + "  c = Conv (x, W, B)  a = " + activation +
           "  y = QuantizeLinear (a, s, none) }";
  };
  for (const char* act : {"Relu (c)", "Clip (c, low)"})
    CHECK(declined(fusion::fuse_conv_activation, quantized(act), 17, Target::kOrt) == "they are quantized as one");
  CHECK(rewritten(fusion::fuse_conv_activation, quantized("Clip (c, low, high)"), 17, 1e-6, Target::kOrt) ==
        "DequantizeLinear FusedConv QuantizeLinear");
  CHECK(rewritten(fusion::fuse_conv_activation, quantized("Tanh (c)"), 17, 1e-6, Target::kOrt) ==
        "DequantizeLinear FusedConv QuantizeLinear");
  CHECK(rewritten(fusion::fuse_conv_activation, quantized("Relu (c)", ""), 17, 1e-6, Target::kOrt) ==
        "Relu FusedConv QuantizeLinear");
}

}  // namespace mlopt::test
