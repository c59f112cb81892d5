#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// A product of a quantized [2, 16] with stored weights [16, 8], plus a constant.
Net product_plus(const Dims& addend, bool product_is_read = false) {
  Net net;
  Value* x = net.rounded(net.input({2, 16}), 2.0 / 255, 128);
  Value* y = net.op("MatMul", {x, net.weights({16, 8}, 1)});
  net.output(net.op("Add", {net.constant(uniform(addend, -1, 1)), y}));
  if (product_is_read) net.output(y);
  return net;
}

}  // namespace

TEST_CASE("a row that is added joins the product of integers") {
  const Net net = product_plus({8});
  REQUIRE(prepared_ops(net.model) == "MatMulIntegerToFloat 1, QuantizeLinear 1");
  require_same_result(net.model, 1e-5);
}

TEST_CASE("what is added stays by itself where it is no row, or the product is read elsewhere") {
  for (const Dims& addend : {Dims{2, 8}, Dims{1}, Dims{3, 1, 8}}) {
    const Net net = product_plus(addend);
    INFO(to_string(addend));
    REQUIRE(prepared_ops(net.model) == "Add 1, MatMulIntegerToFloat 1, QuantizeLinear 1");
    require_same_result(net.model, 1e-5);
  }
  const Net read = product_plus({8}, true);
  REQUIRE(prepared_ops(read.model) == "Add 1, MatMulIntegerToFloat 1, QuantizeLinear 1");
  require_same_result(read.model, 1e-5);
}

}  // namespace mlopt::test
