#include "core/ir/typed_op.h"
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

TEST_CASE("what is given numbers of unknown type stays as it is, for these may be halves") {
  Net net;
  Value* x = net.graph().add_input("x", Type::tensor(DType::kF16, Dims{3}));
  Value* y = net.op("Einsum", {x, x}, {{"equation", std::string("i,i->i"), ""}});
  net.output(net.op("Add", {y, net.constant(tensor({1}, {2}, DType::kF16))}));
  REQUIRE(prepared_ops(net.model) == "Add 1, Einsum 1");
  require_same_result(net.model, 0);
}

// The one gradient of a product that the standard has no operator for.
TEST_CASE("gradients of the weights of half convolutions run in float32, and are rounded once") {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    Net net;
    const auto input = [&](const char* name, Dims dims) {
      return net.graph().add_input(name, Type::tensor(type, dims));
    };
    Value *x = input("x", {2, 3, 8, 8}), *dy = input("dy", {2, 4, 6, 6});
    net.output(add_typed_op(net.graph(), "ConvGradWeight", {x, dy},
                            {{"kernel_shape", Dims{3, 3}, ""}, {"shape", Dims{4, 3, 3, 3}, ""}},
                            {Type::tensor(type, Dims{4, 3, 3, 3})}, "dw")[0]);
    REQUIRE(prepared_ops(net.model) == "Cast 3, ConvGradWeight 1");
    // Sums from 8 to 16 whose order differs may be rounded to neighbours.
    require_same_result(net.model, type == DType::kF16 ? 0x1p-7 : 0x1p-4, true);
  }
}

TEST_CASE("a value is widened once for readers that are near, and again for one that is far") {
  Net net;
  const auto row = [&] { return net.constant(uniform({4}, -1, 1)); };
  Value *x = net.input({4}), *half = net.op("Cast", {x}, {{"to", static_cast<int64_t>(DType::kBF16), {}}});
  const auto read = [&] {
    Value* y = net.op("Cast", {net.op("Neg", {half})}, {{"to", static_cast<int64_t>(DType::kF32), {}}});
    y->type = y->producer->input(0)->type = half->type = x->type;
    half->type.dtype = y->producer->input(0)->type.dtype = DType::kBF16;
    return y;
  };
  Value* y = net.op("Add", {read(), read()});
  for (int i = 0; i < 20; ++i) y = net.op("Add", {y, row()});
  net.output(net.op("Mul", {y, read()}));
  REQUIRE(prepared_ops(net.model) == "Add 21, Cast 9, Mul 1, Neg 3");  // 1 + 3 of the model, 2 wide, 3 narrow
  require_same_result(net.model, 1e-6);
}

}  // namespace mlopt::test
