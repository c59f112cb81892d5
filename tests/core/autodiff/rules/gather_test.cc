#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {

std::vector<GradCase> gather_cases() {
  const Tensor x = real({3, 4, 2});
  const Tensor twice = tensor({2, 3}, {0, -1, 1, 1, 0, 1}, DType::kI64);
  const Tensor places = tensor({3, 2, 2}, {0, 3, 1, 1, 2, 0, 3, 3, -1, 0, 2, 1}, DType::kI64);
  const Tensor apart = tensor({1, 2, 2}, {0, 3, 1, 1}, DType::kI64);
  const Tensor tuples = tensor({2, 2}, {2, 3, 0, -1}, DType::kI64);
  const auto add = attr("reduction", "add");
  return {
      {"Gather", {x, twice}, {.attrs = {attr("axis", 1)}}},
      {"Gather", {x, tensor({}, {2}, DType::kI64)}},
      {"Gather", {x, tensor({4}, {2, 2, 0, 2}, DType::kI32)}, {.attrs = {attr("axis", -3)}}},
      {"GatherElements", {x, places}, {.attrs = {attr("axis", 1)}}},
      {"GatherND", {x, tensor({3, 2}, {2, 3, 0, -1, 2, 3}, DType::kI64)}},
      {"ScatterElements", {x, apart, real({1, 2, 2}, -2, 2, 2)}, {.attrs = {attr("axis", 1)}}},
      {"ScatterElements", {x, apart, real({1, 2, 2}, -2, 2, 2)}, {.attrs = {attr("axis", 1), add}}},
      {"ScatterND", {x, tuples, real({2, 2}, -2, 2, 2)}},
      {"ScatterND", {x, tuples, real({2, 2}, -2, 2, 2)}, {.attrs = {add}}},
      {"TopK", {x, tensor({1}, {2}, DType::kI64)}, {.attrs = {attr("axis", 1)}, .outputs = 2}},
  };
}

TEST_CASE("gradients of operators that pick elements") { check_gradients(gather_cases()); }

}  // namespace mlopt::test
