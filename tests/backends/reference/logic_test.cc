#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

Tensor flags(std::vector<double> values) { return tensor({static_cast<int64_t>(values.size())}, values, DType::kBool); }

TEST_CASE("comparisons order numbers of every kind and leave NaN unordered", "[reference]") {
  const DType type = GENERATE(DType::kF64, DType::kF32, DType::kF16, DType::kI8, DType::kI64, DType::kU64);
  const Tensor a = tensor({3}, {1, 2, 3}, type), b = tensor({3}, {2, 2, 2}, type);
  check_cases({
      {"Equal", {a, b}, {}, {flags({0, 1, 0})}},
      {"Greater", {a, b}, {}, {flags({0, 0, 1})}},
      {"GreaterOrEqual", {a, b}, {}, {flags({0, 1, 1})}},
      {"Less", {a, b}, {}, {flags({1, 0, 0})}},
      {"LessOrEqual", {a, b}, {}, {flags({1, 1, 0})}},
  });
}

TEST_CASE("comparisons of NaN, strings, booleans and large integers", "[reference]") {
  const Tensor nan = tensor({1}, {std::nan("")});
  const int64_t large = int64_t{1} << 60;
  check_cases({
      {"Equal", {nan, nan}, {}, {flags({0})}},
      {"LessOrEqual", {nan, nan}, {}, {flags({0})}},
      {"Equal", {Tensor::of_strings({2}, {"a", "b"}), Tensor::of_strings({1}, {"b"})}, {}, {flags({0, 1})}},
      {"Equal", {flags({0, 1}), flags({1, 1})}, {}, {flags({0, 1})}},
      {"Less", {Tensor::ints({large}), Tensor::ints({large + 1})}, {}, {flags({1})}},
      {"Greater", {Tensor::scalar(UINT64_MAX), Tensor::scalar<uint64_t>(1)}, {}, {tensor({}, {1}, DType::kBool)}},
      {"Equal", {counting({2, 1}), counting({1, 2})}, {}, {tensor({2, 2}, {1, 0, 0, 1}, DType::kBool)}},
  });
  check_errors({{"Less", {counting({2}), counting({2}, DType::kI32)}, {}, "different types"}});
}

TEST_CASE("logical and bitwise operators", "[reference]") {
  const Tensor a = flags({0, 0, 1, 1}), b = flags({0, 1, 0, 1});
  const Tensor x = tensor({2}, {12, 255}, DType::kU8), y = tensor({2}, {10, 1}, DType::kU8);
  check_cases({
      {"And", {a, b}, {}, {flags({0, 0, 0, 1})}},
      {"Or", {a, b}, {}, {flags({0, 1, 1, 1})}},
      {"Xor", {a, b}, {}, {flags({0, 1, 1, 0})}},
      {"BitwiseAnd", {x, y}, {}, {tensor({2}, {8, 1}, DType::kU8)}},
      {"BitwiseOr", {x, y}, {}, {tensor({2}, {14, 255}, DType::kU8)}},
      {"BitwiseXor", {x, y}, {}, {tensor({2}, {6, 254}, DType::kU8)}},
      {"BitwiseXor", {Tensor::scalar<int64_t>(-1), Tensor::scalar<int64_t>(5)}, {}, {Tensor::scalar<int64_t>(-6)}},
  });
  check_errors({{"And", {x, y}, {}, "does not take uint8"}, {"BitwiseAnd", {a, b}, {}, "does not take bool"}});
}

TEST_CASE("Where picks by condition over three shapes", "[reference]") {
  const Tensor condition = tensor({2, 1}, {1, 0}, DType::kBool);
  check_cases({
      {"Where", {condition, counting({3}), tensor({}, {9})}, {}, {tensor({2, 3}, {0, 1, 2, 9, 9, 9})}},
      {"Where",
       {condition, Tensor::of_strings({1}, {"x"}), Tensor::of_strings({2}, {"y", "z"})},
       {},
       {Tensor::of_strings({2, 2}, {"x", "x", "y", "z"})}},
      {"Where",
       {tensor({2}, {1, 0}, DType::kBool), counting({2}, DType::kF16), tensor({2}, {7, 8}, DType::kF16)},
       {},
       {tensor({2}, {0, 8}, DType::kF16)}},
  });
  check_errors({
      {"Where", {counting({2}), counting({2}), counting({2})}, {}, "does not take float32"},
      {"Where", {condition, counting({2}), counting({2}, DType::kI32)}, {}, "one type"},
  });
}

}  // namespace
}  // namespace mlopt::test
