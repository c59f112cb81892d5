#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

OpCase slice(const Tensor& data, Ints start, Ints end, Ints axes, Ints step, const Tensor& expected) {
  return {
      "Slice", {data, Tensor::ints(start), Tensor::ints(end), Tensor::ints(axes), Tensor::ints(step)}, {}, {expected}};
}

TEST_CASE("Slice counts from both ends, forward and backward") {
  const Tensor line = counting({5}), table = counting({2, 3}, DType::kU4), none = Tensor(DType::kF32, {0});
  const int64_t least = INT64_MIN, most = INT64_MAX;
  check_cases({
      slice(line, {1}, {4}, {0}, {2}, tensor({2}, {1, 3})),
      slice(line, {-2}, {most}, {-1}, {1}, tensor({2}, {3, 4})),
      slice(line, {most}, {least}, {0}, {-1}, tensor({5}, {4, 3, 2, 1, 0})),
      slice(line, {-1}, {-6}, {0}, {-2}, tensor({3}, {4, 2, 0})),
      slice(line, {3}, {3}, {0}, {1}, none),
      slice(line, {4}, {1}, {0}, {1}, none),
      slice(line, {least}, {most}, {0}, {1}, line),
      slice(line, {least}, {most}, {0}, {-1}, none),
      slice(line, {4}, {least}, {0}, {least}, tensor({1}, {4})),
      slice(line, {-9}, {least}, {0}, {-1}, tensor({1}, {0})),
      slice(none, {0}, {5}, {0}, {1}, none),
      slice(none, {-1}, {least}, {0}, {-1}, none),
      slice(table, {1, 2}, {2, -9}, {0, 1}, {1, -2}, tensor({1, 2}, {5, 3}, DType::kU4)),
      {"Slice", {line, tensor({1}, {1}, DType::kI32), tensor({1}, {3}, DType::kI32)}, {}, {tensor({2}, {1, 2})}},
      {"Slice",
       {table},
       {{attr("starts", Ints{1}), attr("ends", Ints{3}), attr("axes", Ints{1})}, 9},
       {tensor({2, 2}, {1, 2, 4, 5}, DType::kU4)}},
  });
  check_errors({
      {"Slice", {line, Tensor::ints({0}), Tensor::ints({1}), Tensor::ints({1})}, {}, "axis 1"},
      {"Slice", {line, Tensor::ints({0}), Tensor::ints({1, 2})}, {}, "same length"},
      {"Slice", {line, Tensor::ints({0}), Tensor::ints({1}), Tensor::ints({0}), Tensor::ints({0})}, {}, "step is 0"},
  });
}

}  // namespace
}  // namespace mlopt::test
