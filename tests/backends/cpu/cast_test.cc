#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("numbers are cast between all types as the reference does") {
  constexpr DType kTypes[] = {DType::kF32, DType::kF64, DType::kI64, DType::kI32, DType::kI8, DType::kU8, DType::kBool};
  for (const DType from : kTypes)
    for (const DType to : kTypes) {
      INFO(name(from) << " to " << name(to));
      const OpOptions options{.attrs = {{"to", static_cast<int64_t>(to), ""}}};
      require_as_reference("Cast", {uniform({3, 50}, is_signed(from) ? -300 : 0, 300, from)}, options, 0);
      require_as_reference("Cast", {tensor({5}, {0, 1, 2.7, 255, 0.4}, from)}, options, 0);
    }
}

TEST_CASE("floats that no integer holds, and short floats") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor odd = tensor({8}, {inf, -inf, std::nan(""), 1e30, -1e30, -0.0, 3e9, 65519});
  for (const DType to : {DType::kI64, DType::kI32, DType::kU8, DType::kBool, DType::kF64, DType::kF16, DType::kBF16})
    require_as_reference("Cast", {odd}, {.attrs = {{"to", static_cast<int64_t>(to), ""}}}, 0);
  for (const DType from : {DType::kF16, DType::kBF16})
    require_as_reference("Cast", {uniform({3, 70}, -9, 9, from)}, {.attrs = {{"to", int64_t{1}, ""}}}, 0);
}

}  // namespace mlopt::test
