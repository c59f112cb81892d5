#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

TEST_CASE("Pad extends in each mode") {
  const Tensor line = tensor({3}, {1, 2, 3});
  const auto mode = [](const char* name) { return OpOptions{{attr("mode", name)}}; };
  check_cases({
      {"Pad", {line, Tensor::ints({1, 2})}, {}, {tensor({6}, {0, 1, 2, 3, 0, 0})}},
      {"Pad", {line, Tensor::ints({1, 0}), tensor({}, {7})}, {}, {tensor({4}, {7, 1, 2, 3})}},
      {"Pad", {line, Tensor::ints({4, 5})}, mode("reflect"), {tensor({12}, {1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2})}},
      {"Pad", {line, Tensor::ints({2, 1})}, mode("edge"), {tensor({6}, {1, 1, 1, 2, 3, 3})}},
      {"Pad", {line, Tensor::ints({2, 4})}, mode("wrap"), {tensor({9}, {2, 3, 1, 2, 3, 1, 2, 3, 1})}},
      {"Pad", {line, Tensor::ints({-1, 1})}, {}, {tensor({3}, {2, 3, 0})}},
      {"Pad", {tensor({1}, {4}), Tensor::ints({2, 0})}, mode("reflect"), {tensor({3}, {4, 4, 4})}},
      {"Pad", {line}, {{attr("pads", Ints{0, 1}), attr("value", 9.0F)}, 2}, {tensor({4}, {1, 2, 3, 9})}},
      {"Pad", {line}, {{attr("paddings", Ints{1, 0})}, 1}, {tensor({4}, {0, 1, 2, 3})}},
      {"Pad",
       {tensor({2, 1}, {-1, 2}, DType::kI4), Tensor::ints({1, 1}), tensor({}, {-8}, DType::kI4), Tensor::ints({-1})},
       {},
       {tensor({2, 3}, {-8, -1, -8, -8, 2, -8}, DType::kI4)}},
      {"Pad", {Tensor(DType::kF32, {0}), Tensor::ints({1, 1})}, {}, {tensor({2}, {0, 0})}},
      {"Pad", {tensor({}, {3}), Tensor::ints({})}, {}, {tensor({}, {3})}},
      {"Pad", {Tensor::of_strings({1}, {"a"}), Tensor::ints({0, 1})}, {}, {Tensor::of_strings({2}, {"a", ""})}},
  });
  check_errors({
      {"Pad", {line, Tensor::ints({1})}, {}, "1 pads"},
      {"Pad", {line, Tensor::ints({-2, -2})}, {}, "cropped"},
      {"Pad", {line, Tensor::ints({INT64_MAX, 2})}, {}, "bound"},
      {"Pad", {line, Tensor::ints({int64_t{1} << 50, 2})}, {}, ""},
      {"Pad", {Tensor(DType::kF32, {0}), Tensor::ints({1, 1})}, mode("edge"), "empty axis"},
      {"Pad", {line, Tensor::ints({1, 1})}, mode("mirror"), "'mirror'"},
  });
}

TEST_CASE("CenterCropPad keeps the centre") {
  check_cases({
      {"CenterCropPad", {counting({5}), Tensor::ints({2})}, {}, {tensor({2}, {1, 2})}},
      {"CenterCropPad", {counting({2}), Tensor::ints({5})}, {}, {tensor({5}, {0, 0, 1, 0, 0})}},
      {"CenterCropPad", {counting({2, 3}), Tensor::ints({1})}, {{attr("axes", Ints{-1})}}, {tensor({2, 1}, {1, 4})}},
  });
  check_errors({{"CenterCropPad", {counting({5}), Tensor::ints({1, 2})}, {}, "one length"}});
}

}  // namespace
}  // namespace mlopt::test
