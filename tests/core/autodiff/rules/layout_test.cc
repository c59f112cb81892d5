#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {
namespace {

Tensor ints(const std::vector<double>& values) {
  return tensor({static_cast<int64_t>(values.size())}, values, DType::kI64);
}

}  // namespace

std::vector<GradCase> layout_cases() {
  const Tensor x = real({2, 3, 4}), picture = real({1, 8, 2, 3}), square = real({2, 4, 6});
  const auto list = [](std::vector<int64_t> values) { return AttrValue(std::move(values)); };
  return {
      {"Concat", {x, real({2, 1, 4}), real({2, 2, 4})}, {.attrs = {attr("axis", -2)}}},
      {"Concat", {x, real({2, 3, 1})}, {.attrs = {attr("axis", 2)}, .opset = 9}},
      {"DepthToSpace", {picture}, {.attrs = {attr("blocksize", 2)}}},
      {"DepthToSpace", {picture}, {.attrs = {attr("blocksize", 2), attr("mode", "CRD")}}},
      {"Expand", {real({3, 1}), ints({2, 3, 4})}},
      {"Flatten", {x}, {.attrs = {attr("axis", 2)}}},
      {"Pad", {x, ints({1, 0, 2, 0, 1, 0})}},
      {"Pad", {x, ints({1, 0, -1, 0, -1, 0})}},
      {"Pad", {x, ints({0, 1, 2, 0, 1, 3})}, {.attrs = {attr("mode", "reflect")}}},
      {"Pad", {x, ints({2, 1, 0, 3}), Datum(), ints({0, -1})}, {.attrs = {attr("mode", "edge")}}},
      {"Pad", {x, ints({2, 1, 1, 3}), Datum(), ints({2, 0})}},
      {"Pad", {x}, {.attrs = {attr("pads", list({0, 1, 0, 1, 0, 2}))}, .opset = 9}},
      {"Reshape", {x, ints({4, -1})}},
      {"ReverseSequence", {x, ints({3, 2})}, {.attrs = {attr("batch_axis", 0), attr("time_axis", 1)}}},
      {"Slice", {x, ints({1, -3}), ints({3, 1000}), ints({1, 2})}},
      {"Slice", {x, ints({-1, 0}), ints({-100, 4}), ints({1, 2}), ints({-2, 3})}},
      {"Slice",
       {x},
       {.attrs = {attr("starts", list({1})), attr("ends", list({3})), attr("axes", list({2}))}, .opset = 9}},
      {"SpaceToDepth", {real({1, 2, 4, 6})}, {.attrs = {attr("blocksize", 2)}}},
      {"Split", {x, ints({1, 3})}, {.attrs = {attr("axis", -1)}, .outputs = 2}},
      {"Split", {x}, {.attrs = {attr("axis", 1)}, .opset = 11, .outputs = 3}},
      {"Squeeze", {real({1, 3, 1}), ints({0})}},
      {"Tile", {x, ints({2, 1, 3})}},
      {"Transpose", {x}},
      {"Transpose", {x}, {.attrs = {attr("perm", list({1, 2, 0}))}}},
      {"Trilu", {square}},
      {"Trilu", {square, tensor({}, {-1}, DType::kI64)}, {.attrs = {attr("upper", 0)}}},
      {"Unsqueeze", {x, ints({0, -1})}},
  };
}

TEST_CASE("gradients of operators that move elements") { check_gradients(layout_cases()); }

}  // namespace mlopt::test
