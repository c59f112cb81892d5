#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("binary operators broadcast as the reference does") {
  struct Case {
    Dims a, b;
  };
  const Case cases[] = {
      {{5}, {5}},         {{3, 1, 7}, {1, 4, 7}},    {{2, 3, 4, 5}, {3, 1, 1}}, {{1}, {2, 19}},        {{}, {}},
      {{17, 1}, {1, 23}}, {{2, 1, 3, 1}, {4, 1, 5}}, {{128, 300}, {300}},       {{128, 300}, {128, 1}}};
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min"})
    for (const Case& c : cases) {
      INFO(op << " of " << to_string(c.a) << " and " << to_string(c.b));
      const Tensor a = uniform(c.a, -3, 3, DType::kF32, 1), b = uniform(c.b, 0.5, 3, DType::kF32, 2);
      require_as_reference(op, {a, b}, {}, 0);
      require_as_reference(op, {b, a}, {}, 0);
    }
}

TEST_CASE("PRelu takes a slope for each channel") {
  require_as_reference("PRelu", {uniform({2, 3, 5, 7}, -3, 3), uniform({3, 1, 1}, -1, 1)}, {}, 0);
}

TEST_CASE("the larger of a number and NaN is NaN") {
  const Tensor a = tensor({4}, {std::nan(""), 1, std::nan(""), INFINITY}),
               b = tensor({4}, {1, std::nan(""), std::nan(""), 2});
  for (const char* op : {"Max", "Min", "Add"}) require_as_reference(op, {a, b}, {}, 0);
}

TEST_CASE("integers and three operands are the next kernel's") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const Tensor i = tensor({3}, {1, 2, 3}, DType::kI64);
  require_close(run_op("Add", {i, i}, {.backend = cpu.get()}), tensor({3}, {2, 4, 6}, DType::kI64));
  const Tensor f = tensor({3}, {1, 2, 3});
  require_close(run_op("Max", {f, f, tensor({1}, {2})}, {.backend = cpu.get()}), tensor({3}, {2, 2, 3}));
}

}  // namespace mlopt::test
