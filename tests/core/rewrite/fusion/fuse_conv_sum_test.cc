#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

Value* weights(Net& net) { return net.constant(uniform({3, 3, 3, 3}, -1, 1)); }
const std::vector<Attr> kPadded{{"pads", std::vector<int64_t>{1, 1, 1, 1}, ""}};

}  // namespace

TEST_CASE("a sum joins the convolution before it, and the activation after it does too") {
  for (const bool swapped : {false, true}) {
    Net net;
    Value* x = net.input({2, 3, 9, 7});
    Value* y = net.op("Conv", {x, weights(net)}, kPadded);
    net.output(net.op("Relu", {swapped ? net.op("Add", {x, y}) : net.op("Add", {y, x})}));
    REQUIRE(prepared_ops(net.model) == "FusedConv 1");
    require_same_result(net.model, 1e-5);
  }
}

TEST_CASE("a value that is read again is not summed into") {
  Net net;
  Value* x = net.input({1, 3, 9, 7});
  Value* a = net.op("Neg", {x});
  Value* sum = net.op("Add", {net.op("Conv", {x, weights(net)}, kPadded), a});
  net.output(net.op("Mul", {sum, a}));
  REQUIRE(prepared_ops(net.model) == "FusedConv 1, Mul 1, Neg 1");
  require_same_result(net.model, 1e-5);
}

TEST_CASE("both operands may be convolutions, of which one takes the sum") {
  Net net;
  Value* x = net.input({1, 3, 9, 7});
  net.output(net.op("Add", {net.op("Conv", {x, weights(net)}, kPadded), net.op("Conv", {x, weights(net)}, kPadded)}));
  REQUIRE(prepared_ops(net.model) == "Conv 1, FusedConv 1");
  require_same_result(net.model, 1e-5);
}

TEST_CASE("a sum that broadcasts, or whose convolution is read elsewhere, stays by itself") {
  Net net;
  Value* y = net.op("Conv", {net.input({1, 3, 9, 7}), weights(net)}, kPadded);
  net.output(net.op("Add", {y, net.op("GlobalAveragePool", {y})}));
  Net wide;
  wide.output(wide.op("Add", {wide.op("Conv", {wide.input({1, 3, 9, 7}), weights(wide)}, kPadded),
                              wide.graph().add_input("b", Type::tensor(DType::kF32, Dims{2, 1, 1, 1}))}));
  REQUIRE(prepared_ops(net.model) == "Add 1, Conv 1, GlobalAveragePool 1");
  REQUIRE(prepared_ops(wide.model) == "Add 1, Conv 1");
  require_same_result(wide.model, 1e-5);
}

TEST_CASE("what is written for ONNX Runtime takes a sum, for others none") {
  const auto graph = [](const std::string& type, const std::string& spatial,
                        const std::string& before = "Conv (x, W, B)", const std::string& conv = "Conv (x, W, B)",
                        const std::string& channels = "16", const std::string& inputs = "3") {
    const std::string y = type + "[N," + channels + "," + spatial + "]", ones = spatial == "6" ? "1" : "1,1,1,1";
    return "g (" + type + "[N," + inputs + "," + spatial + "] x, " + type + "[" + channels + "," + inputs + "," + ones +
           "] W, " + type + "[" + channels + "] B, " + y + " z) => (" + y + " y) { r = " + before + "  c = " + conv +
           "  y = Add (r, c) }";
  };
  const auto why = [](const std::string& text) { return declined(fusion::fuse_conv_sum, text, 17, Target::kOrt); };
  const std::string blocks = "the operands are not computed in blocks of channels";
  CHECK(rewritten(fusion::fuse_conv_sum, graph("float", "6"), 17, 1e-6, Target::kOrt) == "Conv FusedConv");
  CHECK(why(graph("float", "6", "Neg (z)")) == blocks);
  CHECK(why(graph("float", "6", "Conv (x, W, B)", "Conv (x, W, B)", "20")) == blocks);
  CHECK(why(graph("float", "6", "Conv (x, W, B)", "Conv (x, W, B)", "16", "12")) == blocks);
  CHECK(why(graph("float", "6", "Neg (z)", "Conv (x, W)")) == "it has no constant bias");
  CHECK(declined(fusion::fuse_conv_sum, graph("float", "6"), 17) == "only ONNX Runtime has it");
  CHECK(why(graph("double", "6")) == "it is not float32");
  CHECK(why(graph("float", "6,6,6,6")) == "it has more than three spatial axes");
}

}  // namespace mlopt::test
