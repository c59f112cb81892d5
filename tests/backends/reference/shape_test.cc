#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;
using Texts = std::vector<std::string>;

Tensor data(Dims dims) { return counting(std::move(dims)); }

TEST_CASE("Reshape resolves 0 and -1") {
  check_cases({
      {"Reshape", {data({2, 3, 4}), Tensor::ints({4, 2, 3})}, {}, {data({4, 2, 3})}},
      {"Reshape", {data({2, 3, 4}), Tensor::ints({0, -1})}, {}, {data({2, 12})}},
      {"Reshape", {data({2, 3, 4}), Tensor::ints({-1})}, {}, {data({24})}},
      {"Reshape", {data({1, 1}), Tensor::ints({})}, {}, {data({})}},
      {"Reshape", {data({0, 3}), Tensor::ints({3, 0})}, {{attr("allowzero", 1)}}, {data({3, 0})}},
      {"Reshape", {data({0, 3}), Tensor::ints({0, 7})}, {}, {data({0, 7})}},
      {"Reshape", {data({2, 3})}, {{attr("shape", Ints{3, -1})}, 1}, {data({3, 2})}},
  });
}

TEST_CASE("Reshape refuses shapes that do not fit") {
  check_errors({
      {"Reshape", {data({2, 3}), Tensor::ints({5})}, {}, "6 elements"},
      {"Reshape", {data({2, 3}), Tensor::ints({4, -1})}, {}, "6 elements"},
      {"Reshape", {data({2, 3}), Tensor::ints({-1, -1})}, {}, "more than one -1"},
      {"Reshape", {data({2, 3}), Tensor::ints({-2, 3})}, {}, ""},
      {"Reshape", {data({2, 3}), Tensor::ints({0, 0, 0})}, {}, "copies a dimension"},
      {"Reshape", {data({0, 3}), Tensor::ints({0, -1})}, {{attr("allowzero", 1)}}, "cannot be told"},
      {"Reshape", {data({2, 3}), Tensor::ints({int64_t{1} << 60, 8})}, {}, ""},
  });
}

TEST_CASE("Shape, Size and Identity") {
  const Tensor packed = uniform({2, 3, 0, 5}, 0, 1, DType::kI4);
  const Tensor texts = Tensor::of_strings({2}, {"a", "b"});
  check_cases({
      {"Shape", {packed}, {}, {Tensor::ints({2, 3, 0, 5})}},
      {"Shape", {texts}, {}, {Tensor::ints({2})}},
      {"Shape", {packed}, {{attr("start", -3), attr("end", -1)}}, {Tensor::ints({3, 0})}},
      {"Shape", {packed}, {{attr("start", 3), attr("end", 1)}}, {Tensor::ints({})}},
      {"Shape", {packed}, {{attr("start", -9), attr("end", 9)}}, {Tensor::ints({2, 3, 0, 5})}},
      {"Size", {data({2, 3})}, {}, {Tensor::scalar<int64_t>(6)}},
      {"Identity", {texts}, {}, {texts}},
      {"Identity", {Datum::sequence({texts, texts})}, {}, {Datum::sequence({texts, texts})}},
  });
}

TEST_CASE("Flatten, Squeeze and Unsqueeze find their axes") {
  check_cases({
      {"Flatten", {data({2, 3, 4})}, {}, {data({2, 12})}},
      {"Flatten", {data({2, 3, 4})}, {{attr("axis", 0)}}, {data({1, 24})}},
      {"Flatten", {data({2, 3, 4})}, {{attr("axis", -1)}}, {data({6, 4})}},
      {"Flatten", {data({2, 3, 4})}, {{attr("axis", 3)}}, {data({24, 1})}},
      {"Squeeze", {data({1, 3, 1, 5})}, {}, {data({3, 5})}},
      {"Squeeze", {data({1, 3, 1, 5}), Tensor::ints({-2})}, {}, {data({1, 3, 5})}},
      {"Squeeze", {data({1, 3, 1, 5})}, {{attr("axes", Ints{0})}, 11}, {data({3, 1, 5})}},
      {"Unsqueeze", {data({3, 4}), Tensor::ints({4, -4, 0})}, {}, {data({1, 1, 3, 4, 1})}},
      {"Unsqueeze", {data({3, 4})}, {{attr("axes", Ints{0, 3})}, 11}, {data({1, 3, 4, 1})}},
      {"ExpandDims", {data({3, 4}), Tensor::scalar<int32_t>(-1)}, {{}, 1, "com.microsoft"}, {data({3, 4, 1})}},
  });
  check_errors({
      {"Flatten", {data({2, 3})}, {{attr("axis", 3)}}, "axis 3"},
      {"Squeeze", {data({1, 3}), Tensor::ints({1})}, {}, "3 elements"},
      {"Unsqueeze", {data({3, 4}), Tensor::ints({3, -1})}, {}, "named twice"},
  });
}

TEST_CASE("Expand repeats in both directions and in every type") {
  for (const DType type : {DType::kF32, DType::kI4, DType::kBF16, DType::kI64, DType::kF64, DType::kU2}) {
    const Tensor pair = tensor({2, 1}, {1, 2}, type);
    check_cases({
        {"Expand",
         {pair, Tensor::ints({2, 1, 3})},
         {},
         {tensor({2, 2, 3}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}, type)}},
        {"Expand", {pair, Tensor::ints({1})}, {}, {pair}},
        {"Expand", {pair, Tensor::ints({0, 1, 1})}, {}, {Tensor(type, {0, 2, 1})}},
    });
  }
  check_cases({{"Expand",
                {Tensor::of_strings({1, 2}, {"a", "b"}), Tensor::ints({2, 2})},
                {},
                {Tensor::of_strings({2, 2}, {"a", "b", "a", "b"})}}});
  check_errors({
      {"Expand", {data({2, 1}), Tensor::ints({3, 1})}, {}, ""},
      {"Expand", {data({2, 1}), Tensor::ints({int64_t{1} << 40, 1, int64_t{1} << 40})}, {}, ""},
  });
}

}  // namespace
}  // namespace mlopt::test
