#include <limits>

#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("TopK orders, breaks ties by place and takes every opset's form") {
  const Tensor data = tensor({2, 4}, {3, 1, 3, 2, 0, 9, 9, -1}), two = Tensor::ints({2});
  const auto places = [](Dims dims, std::vector<int64_t> at) { return Tensor::of<int64_t>(std::move(dims), at); };
  check_cases({
      {"TopK", {data, two}, {}, {tensor({2, 2}, {3, 3, 9, 9}), places({2, 2}, {0, 2, 1, 2})}},
      {"TopK", {data, two}, {{attr("largest", 0)}}, {tensor({2, 2}, {1, 2, -1, 0}), places({2, 2}, {1, 3, 3, 0})}},
      {"TopK",
       {data, Tensor::ints({1})},
       {{attr("axis", 0)}},
       {tensor({1, 4}, {3, 9, 9, 2}), places({1, 4}, {0, 1, 1, 0})}},
      {"TopK", {data}, {{attr("k", 1)}, 1}, {tensor({2, 1}, {3, 9}), places({2, 1}, {0, 1})}},
      {"TopK", {data, Tensor::ints({0})}, {}, {Tensor(DType::kF32, {2, 0}), Tensor(DType::kI64, {2, 0})}},
      {"TopK", {tensor({3}, {1, kNan, 2}), two}, {}, {tensor({2}, {kNan, 2}), places({2}, {1, 2})}},
      {"TopK",
       {Tensor::of<uint64_t>({2}, {1, UINT64_MAX}), Tensor::ints({1})},
       {},
       {Tensor::of<uint64_t>({1}, {UINT64_MAX}), places({1}, {1})}},
      {"TopK",
       {tensor({3}, {-5, 7, 3}, DType::kF16), two},
       {},
       {tensor({2}, {7, 3}, DType::kF16), places({2}, {1, 2})}},
  });
  check_errors({
      {"TopK", {data, Tensor::ints({5})}, {}, "k is 5"},
      {"TopK", {data, Tensor::ints({-1})}, {}, "k is -1"},
  });
}

TEST_CASE("Unique groups elements or slices") {
  const Tensor data = tensor({5}, {2, 1, 1, 3, 2});
  const auto at = [](std::vector<int64_t> v) { return Tensor::ints(v); };
  check_cases({
      {"Unique", {data}, {}, {tensor({3}, {1, 2, 3}), at({1, 0, 3}), at({1, 0, 0, 2, 1}), at({2, 2, 1})}},
      {"Unique",
       {data},
       {{attr("sorted", 0)}},
       {tensor({3}, {2, 1, 3}), at({0, 1, 3}), at({0, 1, 1, 2, 0}), at({2, 2, 1})}},
      {"Unique",
       {tensor({3, 2}, {1, 0, 1, 0, 0, 5})},
       {{attr("axis", 0)}},
       {tensor({2, 2}, {0, 5, 1, 0}), at({2, 0}), at({1, 1, 0}), at({1, 2})}},
      {"Unique",
       {Tensor::of_strings({3}, {"b", "a", "b"})},
       {},
       {Tensor::of_strings({2}, {"a", "b"}), at({1, 0}), at({1, 0, 1}), at({1, 2})}},
      {"Unique", {Tensor(DType::kI32, {0})}, {}, {Tensor(DType::kI32, {0}), at({}), at({}), at({})}},
      {"Unique", {data}, {{}, 1, "com.microsoft"}, {tensor({3}, {2, 1, 3}), at({0, 1, 1, 2, 0}), at({2, 2, 1})}},
  });
}

}  // namespace
}  // namespace mlopt::test
