#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// MatMulInteger of x in steps of its own and constant weights, as float32; `scale` makes what it is multiplied by.
template <class Scale>
Net scaled_product(const Scale& scale) {
  Net net;
  Node* quantize = net.graph().add_op("DynamicQuantizeLinear", {net.input({3, 24})}, {}, nullptr, "q", 3);
  Value* sums = net.op("MatMulInteger", {quantize->output(0), net.constant(uniform({24, 7}, -127, 127, DType::kI8)),
                                         quantize->output(2)});
  Value* scales = net.op("Mul", {scale(net, quantize->output(1)), net.constant(uniform({7}, 0.002, 0.004))});
  net.output(net.op("Mul", {net.op("Cast", {sums}, {{"to", int64_t{1}, ""}}), scales}));
  return net;
}

}  // namespace

TEST_CASE("a product with dynamic steps and the scaling of its sums are one operator") {
  Net net;
  Value* x = net.input({3, 24});
  Node* quantize = net.graph().add_op("DynamicQuantizeLinear", {x}, {}, nullptr, "q", 3);
  Value* w = net.constant(uniform({24, 7}, -127, 127, DType::kI8));
  Value* sums =
      net.op("MatMulInteger", {quantize->output(0), w, quantize->output(2), net.constant(tensor({}, {0}, DType::kI8))});
  Value* scales = net.op("Mul", {quantize->output(1), net.constant(uniform({7}, 0.002, 0.004))});
  Value* product = net.op("Mul", {net.op("Cast", {sums}, {{"to", int64_t{1}, ""}}), scales});
  net.output(net.op("Add", {product, net.constant(uniform({7}, -1, 1))}));
  REQUIRE(prepared_ops(net.model) == "DynamicQuantizeLinear 1, MatMulIntegerToFloat 1");
  require_same_result(net.model, 1e-5);
}

TEST_CASE("a product that is scaled by something else than its own steps stays as it is") {
  const Net own = scaled_product([](Net&, Value* steps) { return steps; });
  REQUIRE(prepared_ops(own.model) == "DynamicQuantizeLinear 1, MatMulIntegerToFloat 1");
  require_same_result(own.model, 1e-5);
  const Net other = scaled_product([](Net& net, Value* steps) { return net.op("Sqrt", {steps}); });
  REQUIRE(prepared_ops(other.model) == "Cast 1, DynamicQuantizeLinear 1, MatMulInteger 1, Mul 2, Sqrt 1");
  require_same_result(other.model, 1e-4);
}

}  // namespace mlopt::test
