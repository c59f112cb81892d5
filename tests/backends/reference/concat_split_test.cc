#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

TEST_CASE("Concat joins on any axis, in every type") {
  for (const DType type : {DType::kI2, DType::kF8E4M3FN, DType::kF32, DType::kBool}) {
    const Tensor a = tensor({2, 1}, {0, 1}, type), b = tensor({2, 2}, {1, 0, 1, 1}, type);
    check_cases({{"Concat", {a, b}, {{attr("axis", -1)}}, {tensor({2, 3}, {0, 1, 0, 1, 1, 1}, type)}},
                 {"Concat", {b, b}, {{attr("axis", 0)}}, {tensor({4, 2}, {1, 0, 1, 1, 1, 0, 1, 1}, type)}}});
  }
  const Tensor x = Tensor::of_strings({1}, {"x"}), none = Tensor::of_strings({0}, {});
  check_cases({{"Concat", {x, none, x}, {{attr("axis", 0)}}, {Tensor::of_strings({2}, {"x", "x"})}},
               {"Concat", {counting({1, 2}), counting({1, 1})}, {{}, 1}, {tensor({1, 3}, {0, 1, 0})}}});
  check_errors({
      {"Concat", {counting({2, 1}), counting({3, 1})}, {{attr("axis", 1)}}, "cannot be joined"},
      {"Concat", {counting({2, 1}), counting({2})}, {{attr("axis", 0)}}, "different ranks"},
      {"Concat", {counting({2}), counting({2}, DType::kI8)}, {{attr("axis", 0)}}, "different types"},
      {"Concat", {counting({2})}, {{attr("axis", 1)}}, "axis 1"},
  });
}

TEST_CASE("Split cuts equally, by the list, and as each opset says") {
  const Tensor data = counting({5}), head = tensor({2}, {0, 1}), tail = tensor({3}, {2, 3, 4});
  check_cases({
      {"Split", {data, Tensor::ints({2, 3})}, {}, {head, tail}},
      {"Split", {data}, {{attr("split", Ints{2, 3})}, 11}, {head, tail}},
      {"Split", {data, Tensor::ints({2, 3})}, {{}, 1}, {head, tail}},
      {"Split", {data}, {{attr("num_outputs", 2)}}, {counting({3}), tensor({2}, {3, 4})}},
      {"Split",
       {counting({2, 4}, DType::kU4)},
       {{attr("axis", -1)}, 13},
       {tensor({2, 2}, {0, 1, 4, 5}, DType::kU4), tensor({2, 2}, {2, 3, 6, 7}, DType::kU4)}},
      {"Split", {data, Tensor::ints({0, 5})}, {}, {Tensor(DType::kF32, {0}), data}},
  });
  check_errors({
      {"Split", {data}, {{}, 13, "", 2}, "equal pieces"},
      {"Split", {data, Tensor::ints({2, 2})}, {{}, 0, "", 2}, "add up"},
      {"Split", {data, Tensor::ints({-1, 6})}, {{}, 0, "", 2}, "add up"},
      {"Split", {data, Tensor::ints({5})}, {{}, 0, "", 2}, "1 lengths"},
  });
}

TEST_CASE("Tile repeats") {
  const Tensor data = counting({2, 2});
  check_cases({
      {"Tile", {data, Tensor::ints({2, 1})}, {}, {tensor({4, 2}, {0, 1, 2, 3, 0, 1, 2, 3})}},
      {"Tile", {data, Tensor::ints({1, 2})}, {}, {tensor({2, 4}, {0, 1, 0, 1, 2, 3, 2, 3})}},
      {"Tile", {data, Tensor::ints({0, 2})}, {}, {Tensor(DType::kF32, {0, 4})}},
      {"Tile", {data, tensor({1}, {2}), tensor({1}, {1})}, {{}, 1}, {tensor({2, 4}, {0, 1, 0, 1, 2, 3, 2, 3})}},
  });
  check_errors({
      {"Tile", {data, Tensor::ints({1})}, {}, "one repeat for each axis"},
      {"Tile", {data, Tensor::ints({-1, 1})}, {}, "negative"},
      {"Tile", {data, Tensor::ints({int64_t{1} << 40, int64_t{1} << 40})}, {}, ""},
  });
}

}  // namespace
}  // namespace mlopt::test
