#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {

std::vector<GradCase> binary_cases() {
  const Tensor a = real({2, 3, 4}), row = real({4}, 0.3, 2, 2), middle = real({2, 1, 4}, 0.4, 2, 3),
               one = real({}, 1, 2, 4);
  const Tensor positive = real({2, 3, 4}, 0.3, 2, 5);
  const Tensor condition = uniform({3, 4}, 0, 2, DType::kBool, 6);
  std::vector<GradCase> rows = {
      {"Pow", {positive, row}},  {"Pow", {positive, one}},       {"Pow", {a, tensor({}, {3})}},
      {"Max", {a, middle, row}}, {"Min", {a, middle, row}},      {"Max", {a}},
      {"Mean", {a, row, one}},   {"Sum", {a, row, middle}},      {"PRelu", {a, row}},
      {"PRelu", {a, middle}},    {"Where", {condition, a, row}}, {"Where", {condition, one, middle}},
  };
  // Of 0, whose powers of 0 and 1 have a finite gradient.
  rows.push_back({"Pow", {tensor({4}, {0, 0, 2, 3}, DType::kF64), tensor({4}, {0, 1, 0, 2}, DType::kI64)}});
  for (const char* op : {"Add", "Sub", "Mul", "Div"})
    for (const Tensor& b : {positive, row, middle, one}) {
      rows.push_back({op, {a, b}});
      rows.push_back({op, {b, positive}});
    }
  return rows;
}

TEST_CASE("gradients of operators that broadcast") { check_gradients(binary_cases()); }

}  // namespace mlopt::test
