#include <limits>

#include "core/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// A chain of `length` operators drawn by the seed, with operands of every kind that may be: of the same shape,
/// computed or given, a number, one for each element of an axis.
Model drawn(uint64_t seed, const Dims& dims, int length) {
  static const char* const kUnary[] = {"Relu", "Sigmoid", "Tanh", "Abs", "Neg", "HardSwish", "Softplus", "Elu"};
  static const char* const kBinary[] = {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"};
  Rng rng(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(rng.integer(0, static_cast<int64_t>(n) - 1)); };
  Net net;
  Value* first = net.input(dims);
  Value* x = first;
  for (int i = 0; i < length; ++i) {
    if (below(2) == 0) {
      x = net.op(kUnary[below(std::size(kUnary))], {x});
      continue;
    }
    const std::string op = kBinary[below(std::size(kBinary))];
    Dims other(dims.size(), 1);
    const size_t axis = below(dims.size() + 2);
    if (axis < dims.size()) other[axis] = dims[axis];
    if (axis == dims.size()) other = dims;
    Value* y = below(4) == 0 && i > 0 ? first : net.constant(uniform(other, 0.5, 2, DType::kF32, seed + 7));
    x = below(2) == 0 && op != "PRelu" && op != "Div" ? net.op(op, {y, x}) : net.op(op, {x, y});
  }
  net.output(x);
  return std::move(net.model);
}

}  // namespace

TEST_CASE("chains drawn at random give what their operators give") {
  const Dims shapes[] = {{7}, {1, 1}, {3, 5, 9}, {2, 6, 17, 23}, {1, 4, 130, 70}};
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Model model = drawn(seed, shapes[seed % std::size(shapes)], 2 + static_cast<int>(seed % 6));
    INFO(seed << ": " << specialized_ops(model));
    require_same_result(model, 1e-4);
  }
}

TEST_CASE("elementwise operators one after the other become one step") {
  Net net;
  Value* x = net.input({1, 3, 20, 20});
  Value* y = net.op("Mul", {net.constant(uniform({1, 3, 1, 1}, 1, 2)), net.op("Exp", {x})});
  net.output(net.op("Sub", {x, net.op("Tanh", {net.op("Add", {y, net.constant(tensor({}, {0.5}))})})}));
  REQUIRE(specialized_ops(net.model) == "Chain 1");
  require_same_result(net.model, 1e-5);
}

TEST_CASE("every operator of a chain is the reference's, whichever operand is the left one") {
  const Tensor x = uniform({2, 3, 4, 5}, -2, 2), y = uniform({2, 3, 4, 5}, 0.5, 2, DType::kF32, 3),
               z = uniform({3, 1, 1}, 0.5, 2, DType::kF32, 4);
  const std::vector<Attr> attrs{
      {"ops", std::vector<std::string>{"Clip", "Selu", "Div", "FastGelu", "Sub", "LeakyRelu", "HardSigmoid"}, ""},
      {"params", std::vector<float>{-1, 1.5f, 1.6f, 1.1f, 0, 0, 0, 0, 0, 0, 0.3f, 0, 0.25f, 0.5f}, ""},
      {"operands", std::vector<int64_t>{0, 0, 1, 0, -2, 0, 0}, ""}};
  require_as_reference("Chain", {x, y, z}, {.attrs = attrs, .domain = "mlopt"});
}

TEST_CASE("what is read again, of another shape or of integers is no part of a chain") {
  Net again;
  Value* x = again.op("Exp", {again.input({4, 5})});
  again.output(again.op("Neg", {x}));
  again.output(x);
  REQUIRE(specialized_ops(again.model) == "Exp 1, Neg 1");
  Net grows;
  grows.output(grows.op("Add", {grows.op("Exp", {grows.input({1, 5})}), grows.constant(uniform({4, 5}, -1, 1))}));
  REQUIRE(specialized_ops(grows.model) == "Add 1, Exp 1");
  Net square;
  Value* s = square.op("Exp", {square.input({4, 5})});
  square.output(square.op("Mul", {s, s}));
  REQUIRE(specialized_ops(square.model) == "Exp 1, Mul 1");
  Net integers;
  Value* i = integers.op("Cast", {integers.input({6})}, {{"to", int64_t{7}, ""}});
  integers.output(integers.op("Add", {integers.op("Abs", {i}), integers.constant(tensor({1}, {2}, DType::kI64))}));
  REQUIRE(specialized_ops(integers.model) == "Abs 1, Add 1, Cast 1");
}

TEST_CASE("not a number stays one through a chain") {
  Net net;
  Value* x = net.input({3});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Value* y = net.op("Add", {net.op("Relu", {x}), net.constant(tensor({3}, {nan, 1, INFINITY}))});
  net.output(net.op("Max", {y, net.constant(tensor({1}, {0}))}));
  REQUIRE(specialized_ops(net.model) == "Chain 1");
  require_same_result(net.model, 0);
}

TEST_CASE("a long chain is cut into several") {
  Net net;
  Value* x = net.input({3});
  for (int i = 0; i < 150; ++i) x = net.op(i % 2 ? "Tanh" : "Sigmoid", {x});
  net.output(x);
  REQUIRE(specialized_ops(net.model) == "Chain 3");
  require_same_result(net.model, 1e-6);
}

}  // namespace mlopt::test
