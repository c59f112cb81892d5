#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("stored weights of float operators are unpacked once") {
  Net net;
  net.output(net.conv(net.input({1, 3, 6, 6}), 3, 4));
  REQUIRE(prepared_ops(net.model) == "Conv 1");
  require_same_result(net.model, 1e-5);
}

TEST_CASE("unpacking leaves outputs and what is computed alone") {
  Net net;
  Value* w = net.weights({4, 3}, 0);
  net.output(w);
  net.output(net.op("Add", {net.dequantize(net.quantize(net.input({4, 3}), 0.01, 128), 0.01, 128), w}));
  REQUIRE(prepared_ops(net.model) == "Add 1, DequantizeLinear 2, QuantizeLinear 1");
  require_same_result(net.model, 1e-5);
}

}  // namespace mlopt::test
