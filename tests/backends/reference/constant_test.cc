#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

TEST_CASE("ConstantOfShape fills with zeros or the attribute") {
  check_cases({
      {"ConstantOfShape", {Tensor::ints({2, 3})}, {}, {tensor({2, 3}, {0, 0, 0, 0, 0, 0})}},
      {"ConstantOfShape",
       {Tensor::ints({})},
       {{attr("value", tensor({1}, {7}, DType::kI32))}},
       {tensor({}, {7}, DType::kI32)}},
      {"ConstantOfShape", {Tensor::ints({0, 2})}, {{attr("value", tensor({1}, {7}))}}, {Tensor(DType::kF32, {0, 2})}},
      {"ConstantOfShape",
       {Tensor::ints({3})},
       {{attr("value", tensor({1}, {-3}, DType::kI4))}},
       {tensor({3}, {-3, -3, -3}, DType::kI4)}},
  });
  check_errors({
      {"ConstantOfShape", {Tensor::ints({-1})}, {}, ""},
      {"ConstantOfShape", {Tensor::ints({int64_t{1} << 30, int64_t{1} << 30})}, {}, ""},
      {"ConstantOfShape", {Tensor::ints({2})}, {{attr("value", tensor({2}, {1, 2}))}}, "one element"},
  });
}

TEST_CASE("EyeLike puts ones on a diagonal") {
  check_cases({
      {"EyeLike", {counting({2, 3}, DType::kI32)}, {}, {tensor({2, 3}, {1, 0, 0, 0, 1, 0}, DType::kI32)}},
      {"EyeLike",
       {counting({2, 3})},
       {{attr("k", 1), attr("dtype", 11)}},
       {tensor({2, 3}, {0, 1, 0, 0, 0, 1}, DType::kF64)}},
      {"EyeLike", {counting({3, 2})}, {{attr("k", -2)}}, {tensor({3, 2}, {0, 0, 0, 0, 1, 0})}},
      {"EyeLike", {counting({2, 2})}, {{attr("k", -100)}}, {tensor({2, 2}, {0, 0, 0, 0})}},
  });
  check_errors({{"EyeLike", {counting({3})}, {}, "matrix"}});
}

TEST_CASE("Range counts up and down") {
  const auto f = [](double v, DType type) { return tensor({}, {v}, type); };
  const DType i64 = DType::kI64, f32 = DType::kF32, f64 = DType::kF64, i16 = DType::kI16;
  const int64_t least = INT64_MIN, most = INT64_MAX;
  check_cases({
      {"Range", {f(1, i64), f(8, i64), f(3, i64)}, {}, {tensor({3}, {1, 4, 7}, i64)}},
      {"Range", {f(1, i64), f(7, i64), f(3, i64)}, {}, {tensor({2}, {1, 4}, i64)}},
      {"Range", {f(10, i16), f(4, i16), f(-2, i16)}, {}, {tensor({3}, {10, 8, 6}, i16)}},
      {"Range", {f(0, f32), f(1, f32), f(0.3, f32)}, {}, {tensor({4}, {0, 0.3, 0.6, 0.9}, f32)}},
      {"Range", {f(1, f64), f(0, f64), f(-0.5, f64)}, {}, {tensor({2}, {1, 0.5}, f64)}},
      {"Range", {f(5, i64), f(1, i64), f(1, i64)}, {}, {Tensor(i64, {0})}},
      {"Range",
       {Tensor::scalar(least), Tensor::scalar(most), Tensor::scalar(most)},
       {},
       {Tensor::ints({least, -1, most - 1})}},
  });
  check_errors({
      {"Range", {f(0, f32), f(1, f32), f(0, f32)}, {}, "must not be 0"},
      {"Range", {f(0, i64), Tensor::scalar(most), f(1, i64)}, {}, "too long"},
      {"Range", {f(0, f32), f(1e30, f32), f(1, f32)}, {}, "too long"},
  });
}

TEST_CASE("OneHot") {
  const Tensor values = tensor({2}, {5, 9}, DType::kI8), depth = Tensor::scalar<int64_t>(3);
  const Tensor indices = Tensor::ints({0, -1, 3});
  check_cases({
      {"OneHot", {indices, depth, values}, {}, {tensor({3, 3}, {9, 5, 5, 5, 5, 9, 5, 5, 5}, DType::kI8)}},
      {"OneHot",
       {indices, depth, values},
       {{attr("axis", 0)}},
       {tensor({3, 3}, {9, 5, 5, 5, 5, 5, 5, 9, 5}, DType::kI8)}},
      {"OneHot", {indices, depth, values}, {{}, 9}, {tensor({3, 3}, {9, 5, 5, 5, 5, 5, 5, 5, 5}, DType::kI8)}},
      {"OneHot", {tensor({1}, {1}), tensor({1}, {2}), values}, {}, {tensor({1, 2}, {5, 9}, DType::kI8)}},
  });
  check_errors({
      {"OneHot", {indices, Tensor::scalar<int64_t>(0), values}, {}, "positive"},
      {"OneHot", {indices, Tensor::scalar<int64_t>(INT64_MAX), values}, {}, ""},
  });
}

TEST_CASE("Trilu keeps one side of a diagonal") {
  const Tensor data = tensor({2, 3}, {1, 2, 3, 4, 5, 6}, DType::kI16);
  const auto k = [](int64_t value) { return Tensor::scalar(value); };
  check_cases({
      {"Trilu", {data}, {}, {tensor({2, 3}, {1, 2, 3, 0, 5, 6}, DType::kI16)}},
      {"Trilu", {data, k(1)}, {}, {tensor({2, 3}, {0, 2, 3, 0, 0, 6}, DType::kI16)}},
      {"Trilu", {data}, {{attr("upper", 0)}}, {tensor({2, 3}, {1, 0, 0, 4, 5, 0}, DType::kI16)}},
      {"Trilu", {data, k(-1)}, {{attr("upper", 0)}}, {tensor({2, 3}, {0, 0, 0, 4, 0, 0}, DType::kI16)}},
      {"Trilu", {data, k(INT64_MIN)}, {}, {data}},
      {"Trilu", {data, k(INT64_MAX)}, {{attr("upper", 0)}}, {data}},
      {"Trilu", {Tensor(DType::kF32, {2, 3, 0})}, {}, {Tensor(DType::kF32, {2, 3, 0})}},
  });
}

}  // namespace
}  // namespace mlopt::test
