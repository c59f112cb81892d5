#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

TEST_CASE("ArgMax and ArgMin along an axis", "[reference]") {
  const Tensor x = tensor({2, 3}, {1, 5, 5, -2, -2, -3});
  check_cases({
      {"ArgMax", {x}, {{attr("axis", 1)}}, {tensor({2, 1}, {1, 0}, DType::kI64)}},
      {"ArgMax", {x}, {{attr("axis", -1), attr("keepdims", 0)}}, {Tensor::ints({1, 0})}},
      {"ArgMax", {x}, {{attr("axis", 1), attr("select_last_index", 1)}}, {tensor({2, 1}, {2, 1}, DType::kI64)}},
      {"ArgMin", {x}, {{attr("axis", 0)}}, {tensor({1, 3}, {1, 1, 1}, DType::kI64)}},
      {"ArgMin", {tensor({3}, {3, 1, 2}, DType::kU8)}, {}, {Tensor::ints({1})}},
      {"ArgMax", {tensor({3}, {3, std::nan(""), 9})}, {}, {Tensor::ints({1})}},
      {"ArgMax", {Tensor(DType::kF32, {0, 3})}, {{attr("axis", 1)}}, {Tensor(DType::kI64, {0, 1})}},
  });
  check_errors({
      {"ArgMax", {x}, {{attr("axis", 2)}}, "axis 2"},
      {"ArgMax", {Tensor(DType::kF32, {2, 0})}, {{attr("axis", 1)}}, "without elements"},
  });
}

TEST_CASE("CumSum and CumProd from either end", "[reference]") {
  const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6}), last = tensor({}, {1}, DType::kI32);
  check_cases({
      {"CumSum", {x, last}, {}, {tensor({2, 3}, {1, 3, 6, 4, 9, 15})}},
      {"CumSum", {x, Tensor::scalar<int64_t>(-2)}, {}, {tensor({2, 3}, {1, 2, 3, 5, 7, 9})}},
      {"CumSum", {x, last}, {{attr("exclusive", 1)}}, {tensor({2, 3}, {0, 1, 3, 0, 4, 9})}},
      {"CumSum", {x, last}, {{attr("reverse", 1)}}, {tensor({2, 3}, {6, 5, 3, 15, 11, 6})}},
      {"CumSum", {x, last}, {{attr("reverse", 1), attr("exclusive", 1)}}, {tensor({2, 3}, {5, 3, 0, 11, 6, 0})}},
      {"CumProd", {x, last}, {{}, 26}, {tensor({2, 3}, {1, 2, 6, 4, 20, 120})}},
      {"CumProd", {x, last}, {{attr("exclusive", 1)}, 26}, {tensor({2, 3}, {1, 1, 2, 1, 4, 20})}},
      {"CumSum",
       {tensor({2}, {3, 4}, DType::kU64), tensor({}, {0}, DType::kI32)},
       {},
       {tensor({2}, {3, 7}, DType::kU64)}},
  });
  check_errors(
      {{"CumSum", {x, Tensor::ints({5})}, {}, "axis 5"}, {"CumSum", {x, Tensor::ints({0, 1})}, {}, "one element"}});
}

}  // namespace
}  // namespace mlopt::test
