#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// Conv, Relu, MaxPool, Gemm on the type.
Net small_network(DType type) {
  Net net;
  Value* x = net.graph().add_input("x", Type::tensor(type, Dims{1, 3, 8, 8}));
  const auto weights = [&](const Dims& dims) { return net.constant(uniform(dims, -1, 1, type)); };
  Value* y = net.op("Relu", {net.op("Conv", {x, weights({4, 3, 3, 3}), weights({4})})});
  y = net.op("MaxPool", {y}, {{"kernel_shape", std::vector<int64_t>{2, 2}, ""}});
  y = net.op("Gemm", {net.op("Flatten", {y}), weights({100, 5}), weights({5})});
  net.output(y);
  y->type = Type::tensor(type, Dims{1, 5});
  return net;
}

}  // namespace

TEST_CASE("networks on half floats run in float32 between their inputs and outputs") {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    const Net net = small_network(type);
    REQUIRE(prepared_ops(net.model) == "Cast 2, Flatten 1, FusedConv 1, Gemm 1, MaxPool 1");
    // Sums of 100 products around 3, each rounded to 11 or 8 bits by the reference.
    require_same_result(net.model, type == DType::kF16 ? 0.02 : 0.2);
  }
}

TEST_CASE("what takes no float32 keeps its halves") {
  Net net;
  Value* x = net.graph().add_input("x", Type::tensor(DType::kF16, Dims{2, 3}));
  Value* y = net.op("CumSum", {x, net.constant(tensor({}, {1}, DType::kI64))});
  y->type = x->type;
  net.output(net.op("Neg", {y}));
  REQUIRE(prepared_ops(net.model) == "Cast 2, CumSum 1, Neg 1");
  require_same_result(net.model, 1e-3);
}

}  // namespace mlopt::test
