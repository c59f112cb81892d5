#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

Value* matrix(Net& net, int64_t rows, int64_t columns) { return net.constant(uniform({rows, columns}, -1, 1)); }

/// activation(x W + row) + y, or the other way round, of 3 axes.
Model layer(const std::string& activation, bool addend_first, int64_t columns) {
  Net net;
  Value* x = net.input({2, 5, 24});
  Value* y = net.graph().add_input("y", Type::tensor(DType::kF32, Dims{2, 5, columns}));
  Value* z = net.op("MatMul", {x, matrix(net, 24, columns)});
  Value* row = net.constant(uniform({1, 1, columns}, -1, 1));
  z = addend_first ? net.op("Add", {row, net.op("Add", {y, z})}) : net.op("Add", {net.op("Add", {z, row}), y});
  net.output(net.op(activation, {z}));
  return std::move(net.model);
}

}  // namespace

TEST_CASE("a row, a sum and an activation join the product before them") {
  for (const char* activation : {"Relu", "Gelu", "Sigmoid", "HardSwish"})
    for (const bool addend_first : {false, true})
      for (const int64_t columns : {3, 40}) {
        INFO(activation << (addend_first ? ", the row last, " : ", ") << columns);
        const Model model = layer(activation, addend_first, columns);
        REQUIRE(specialized_ops(model) == "MatMulAdd 1");
        require_same_result(model, 1e-5);
      }
}

TEST_CASE("products of matrices with a row take a sum and an activation") {
  for (const bool swapped : {false, true}) {
    Net net;
    Value* x = net.input({6, 30});
    Value* y = net.op("Gemm", {x, matrix(net, 30, 30), net.constant(uniform({30}, -1, 1))},
                      {{"transB", int64_t{swapped}, ""}});
    net.output(net.op("Gelu", {net.op("Add", {x, y})}, {{"approximate", std::string("tanh"), ""}}));
    REQUIRE(specialized_ops(net.model) == "MatMulAdd 1");
    require_same_result(net.model, 1e-5);
  }
}

TEST_CASE("what a sum reads is not lost where the sum is made in its place") {
  Net net;
  Value* x = net.op("Neg", {net.input({4, 16})});
  Value* sum = net.op("Add", {x, net.op("MatMul", {x, matrix(net, 16, 16)})});
  net.output(net.op("Mul", {sum, x}));
  REQUIRE(specialized_ops(net.model) == "MatMulAdd 1, Mul 1, Neg 1");
  require_same_result(net.model, 1e-5);
}

TEST_CASE("sums that are larger than the product, and those of a product that is read elsewhere, stay") {
  Net wide;
  wide.output(wide.op("Add", {wide.op("MatMul", {wide.input({4, 16}), matrix(wide, 16, 8)}),
                              wide.graph().add_input("b", Type::tensor(DType::kF32, Dims{2, 4, 8}))}));
  Net column;
  column.output(column.op("Add", {column.op("MatMul", {column.input({4, 16}), matrix(column, 16, 8)}),
                                  column.graph().add_input("b", Type::tensor(DType::kF32, Dims{4, 1}))}));
  Net twice;
  Value* y = twice.op("MatMul", {twice.input({4, 16}), matrix(twice, 16, 8)});
  twice.output(twice.op("Add", {y, twice.op("Softmax", {y})}));
  REQUIRE(specialized_ops(wide.model) == "Add 1, MatMul 1");
  REQUIRE(specialized_ops(column.model) == "Add 1, MatMul 1");
  REQUIRE(specialized_ops(twice.model) == "Add 1, MatMul 1, Softmax 1");
  for (const Model* model : {&wide.model, &column.model, &twice.model}) require_same_result(*model, 1e-5);
}

}  // namespace mlopt::test
