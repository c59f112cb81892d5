#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("other dims for the same bytes, between operators and at the outputs") {
  Net net;
  Value* x = net.input({2, 3, 4});
  Value* a = net.op("Relu", {net.op("Flatten", {x})});
  Value* b = net.op("Unsqueeze", {a, net.constant(Tensor::ints({0, 3}))});
  Value* c = net.op("Squeeze", {net.op("Neg", {b}), net.constant(Tensor::ints({0}))});
  net.output(b);
  net.output(net.op("Reshape", {c, net.constant(Tensor::ints({0, -1, 2}))}));
  net.output(net.op("Identity", {x}));
  require_same_result(net.model, 0);
}

}  // namespace mlopt::test
