#include <limits>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("integers and float64 under every way to broadcast") {
  struct Case {
    Dims a, b;
  };
  for (const Case& c : {Case{{3, 70}, {3, 70}}, {{4, 5, 1}, {1, 1, 9}}, {{33}, {}}, {{}, {2, 3}}, {{2, 0}, {2, 1}}})
    for (const DType type : {DType::kI64, DType::kI32, DType::kF64})
      for (const char* op : {"Add", "Sub", "Mul", "Max", "Min", "Div"}) {
        INFO(to_string(c.a) << " and " << to_string(c.b));
        // No divisor is zero.
        require_as_reference(op, {uniform(c.a, -90, 90, type, 1), uniform(c.b, 1, 9, type, 2)}, {}, 0);
        require_as_reference(op, {uniform(c.a, -90, 90, type, 1), uniform(c.b, -9, -1, type, 2)}, {}, 0);
      }
}

TEST_CASE("integers wrap, and the least divided by -1 is itself") {
  for (const DType type : {DType::kI64, DType::kI32}) {
    const double least = type == DType::kI64 ? -0x1p63 : -0x1p31;
    const Tensor a = tensor({3}, {least, least, 7}, type), b = tensor({3}, {-1, 3, -2}, type);
    for (const char* op : {"Add", "Sub", "Mul", "Div"}) require_as_reference(op, {a, b}, {}, 0);
  }
}

TEST_CASE("a quotient of integers by zero is refused, that of float64 is not") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const Tensor a = tensor({2}, {1, 2}, DType::kI32), b = tensor({2}, {1, 0}, DType::kI32);
  CHECK(error_of("Div", {a, b}, {.backend = cpu.get()}).find("division by zero") != std::string::npos);
  require_as_reference("Div", {tensor({3}, {1, -1, 0}, DType::kF64), tensor({3}, {0, 0, 0}, DType::kF64)}, {}, 0);
}

}  // namespace mlopt::test
