#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

const std::vector<Attr> kPadded{{"pads", std::vector<int64_t>{1, 1, 1, 1}, ""}};

Value* conv(Net& net, Value* x, double scale, double zero) {
  return net.rounded(net.op("Conv", {x, net.weights({8, 8, 3, 3}, 0)}, kPadded), scale, zero);
}

Value* source(Net& net) { return net.rounded(net.input({2, 8, 9, 7}), 1 / 128.0, 128); }

}  // namespace

TEST_CASE("a sum of integers joins the convolution before it, in either order, and its Relu goes") {
  for (const bool swapped : {false, true}) {
    Net net;
    Value* x = source(net);
    Value* y = conv(net, x, 0.05, 120);
    Value* sum = swapped ? net.op("Add", {x, y}) : net.op("Add", {y, x});
    net.output(net.rounded(net.op("Relu", {sum}), 0.04, 0));
    REQUIRE(prepared_ops(net.model) == "DequantizeLinear 1, QLinearConvAdd 1, QuantizeLinear 1");
    require_same_result(net.model, 0.041);  // one step
  }
}

TEST_CASE("both operands may be convolutions of integers, of which one takes the sum") {
  Net net;
  Value* x = source(net);
  Value* sum = net.rounded(net.op("Add", {conv(net, x, 0.05, 120), conv(net, x, 0.03, 99)}), 0.07, 130);
  net.output(conv(net, sum, 0.1, 128));
  REQUIRE(prepared_ops(net.model) == "DequantizeLinear 1, QLinearConv 2, QLinearConvAdd 1, QuantizeLinear 1");
  require_same_result(net.model, 0.25);  // a few steps of 0.1
}

TEST_CASE("a sum of integers that broadcasts, or whose convolution is read elsewhere, stays by itself") {
  Net net;
  Value* x = source(net);
  Value* y = conv(net, x, 0.05, 120);
  Value* mean = net.rounded(net.op("GlobalAveragePool", {y}), 0.02, 128);
  net.output(net.rounded(net.op("Add", {y, mean}), 0.06, 110));
  REQUIRE(prepared_ops(net.model) ==
          "DequantizeLinear 1, QLinearAdd 1, QLinearConv 1, QLinearGlobalAveragePool 1, QuantizeLinear 1");
  require_same_result(net.model, 0.061);
}

}  // namespace mlopt::test
