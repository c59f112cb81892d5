#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("comparisons and logic broadcast as the reference does") {
  struct Case {
    Dims a, b;
  };
  for (const Case& c :
       {Case{{3, 70}, {3, 70}}, {{4, 5, 1}, {1, 1, 9}}, {{33}, {}}, {{}, {2, 3}}, {{2, 1, 7}, {5, 1}}}) {
    INFO(to_string(c.a) << " and " << to_string(c.b));
    for (const char* op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
      for (const DType type : {DType::kF32, DType::kF64, DType::kI64, DType::kI32, DType::kU8})
        require_as_reference(op, {uniform(c.a, 0, 4, type, 1), uniform(c.b, 0, 4, type, 2)}, {}, 0);
    for (const char* op : {"And", "Or", "Xor", "Equal"})
      require_as_reference(op, {uniform(c.a, 0, 2, DType::kBool, 1), uniform(c.b, 0, 2, DType::kBool, 2)}, {}, 0);
    require_as_reference("Not", {uniform(c.a, 0, 2, DType::kBool)}, {}, 0);
  }
}

TEST_CASE("IsNaN gives what the reference gives") {
  require_as_reference("IsNaN", {tensor({2, 3}, {0, std::nan(""), INFINITY, -std::nan(""), -INFINITY, 1e-40})}, {}, 0);
  Tensor large = uniform({3, 40000}, -1, 1);
  for (int64_t i = 0; i < large.size(); i += 7) large.mutable_data<float>()[i] = std::nanf("");
  require_as_reference("IsNaN", {large}, {}, 0);
}

TEST_CASE("what is not finite compares as the reference says") {
  const Tensor a = tensor({4, 1}, {NAN, INFINITY, -INFINITY, 0.0}),
               b = tensor({5}, {NAN, INFINITY, -INFINITY, -0.0, 1});
  for (const char* op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
    require_as_reference(op, {a, b}, {}, 0);
}

TEST_CASE("comparisons of images in whatever layout") {
  Net net;
  Value* x = net.op("MaxPool", {net.op("Conv", {net.input({1, 3, 9, 8}), net.constant(uniform({6, 3, 3, 3}, -1, 1))})},
                    {{"kernel_shape", std::vector<int64_t>{2, 2}, ""}});
  Value* larger = net.op("Greater", {x, net.constant(uniform({6, 1, 1}, -1, 1))});
  Value* both = net.op("And", {larger, net.op("Not", {net.op("Less", {x, net.op("Neg", {x})})})});
  net.output(net.op("Where", {both, x, net.constant(tensor({}, {-7}))}));
  require_same_result(net.model, 1e-5, true);
}

}  // namespace mlopt::test
