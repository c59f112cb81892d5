#include <limits>

#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

Tensor picked(const std::vector<int64_t>& rows) { return Tensor::of({static_cast<int64_t>(rows.size()) / 3, 3}, rows); }

TEST_CASE("NonMaxSuppression keeps the best of overlapping boxes") {
  const Tensor boxes = tensor({1, 4, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 0.9, 1, 1.9, 1, 2, 0, 1});
  const Tensor scores = tensor({1, 1, 4}, {0.6, 0.9, 0.5, 0.5});
  const Tensor all = Tensor::ints({10}), half = tensor({1}, {0.5});
  check_cases({
      {"NonMaxSuppression", {boxes, scores, all, half}, {}, {picked({0, 0, 1, 0, 0, 2})}},
      {"NonMaxSuppression", {boxes, scores, Tensor::ints({1}), half}, {}, {picked({0, 0, 1})}},
      {"NonMaxSuppression", {boxes, scores, all, half, tensor({1}, {0.5})}, {}, {picked({0, 0, 1})}},
      {"NonMaxSuppression", {boxes, scores}, {}, {picked({})}},
      {"NonMaxSuppression",
       {tensor({1, 2, 4}, {0.5, 0.5, 1, 1, 0.6, 0.5, 1, 1}), tensor({1, 1, 2}, {0.1, 0.2}), all, half},
       {{attr("center_point_box", 1)}},
       {picked({0, 0, 1})}},
  });
  check_errors({{"NonMaxSuppression", {boxes, tensor({1, 1, 3}, {1, 1, 1}), all}, {}, "do not fit"}});
}

TEST_CASE("RoiAlign averages samples of regions, MaxRoiPool takes the largest pixel") {
  const Tensor picture = counting({1, 1, 4, 4}), whole = tensor({1, 4}, {0, 0, 4, 4}), first = Tensor::ints({0});
  const Attr two[] = {attr("output_height", 2), attr("output_width", 2)};
  check_cases({
      // Bins of 2 x 2 pixels, one sample in the middle of each, half a pixel up and left of the pixel grid.
      {"RoiAlign",
       {picture, whole, first},
       {{two[0], two[1], attr("sampling_ratio", 1)}},
       {tensor({1, 1, 2, 2}, {2.5, 4.5, 10.5, 12.5})}},
      {"RoiAlign",
       {picture, whole, first},
       {{two[0], two[1], attr("sampling_ratio", 1), attr("coordinate_transformation_mode", "output_half_pixel")}},
       {tensor({1, 1, 2, 2}, {5, 7, 13, 15})}},
      {"RoiAlign",
       {picture, whole, first},
       {{two[0], two[1], attr("sampling_ratio", 1)}, 10},
       {tensor({1, 1, 2, 2}, {5, 7, 13, 15})}},
      {"MaxRoiPool",
       {picture, tensor({1, 5}, {0, 0, 0, 3, 1})},
       {{attr("pooled_shape", Ints{1, 2})}},
       {tensor({1, 1, 1, 2}, {5, 7})}},
  });
  check_errors({
      {"RoiAlign", {picture, whole, Tensor::ints({1})}, {}, "outside the batch"},
      {"RoiAlign", {picture, tensor({1, 4}, {0, 0, 1e30, 1e30}), first}, {}, "too large"},
      {"RoiAlign",
       {picture, tensor({1, 4}, {0, 0, std::numeric_limits<double>::quiet_NaN(), 1}), first},
       {},
       "not finite"},
      {"MaxRoiPool",
       {picture, tensor({1, 5}, {2, 0, 0, 3, 1})},
       {{attr("pooled_shape", Ints{1, 2})}},
       "outside the batch"},
  });
}

TEST_CASE("GridSample reads between pixels and beyond the edge") {
  const Tensor picture = tensor({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor points = tensor({1, 1, 3, 2}, {0, 0, -1, -1, 1.5, 1});
  const auto with = [](const char* mode, const char* padding, int corners) {
    return OpOptions{{attr("mode", mode), attr("padding_mode", padding), attr("align_corners", corners)}};
  };
  const auto row = [&](const OpOptions& options, const std::vector<double>& expected) {
    return OpCase{"GridSample", {picture, points}, options, {tensor({1, 1, 1, 3}, expected)}};
  };
  check_cases({
      row(with("linear", "zeros", 1), {2.5, 1, 3}),
      row(with("linear", "border", 1), {2.5, 1, 4}),
      row(with("linear", "reflection", 1), {2.5, 1, 3.75}),
      row(with("linear", "zeros", 0), {2.5, 0.25, 0}),
      row(with("linear", "border", 0), {2.5, 1, 4}),
      row(with("nearest", "zeros", 1), {1, 1, 4}),
      row(with("cubic", "border", 1), {2.5, 1, 4}),
  });
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_cases(
      {{"GridSample", {picture, tensor({1, 1, 2, 2}, {nan, 0, 1e30, -1e30})}, {}, {tensor({1, 1, 1, 2}, {0, 0})}}});
  check_errors({{"GridSample", {picture, tensor({1, 1, 1, 3}, {0, 0, 0})}, {}, "every spatial axis"}});
}

TEST_CASE("AffineGrid of the identity is the grid of the pixels") {
  const Tensor identity = tensor({1, 2, 3}, {1, 0, 0, 0, 1, 0}), size = Tensor::ints({1, 1, 2, 2});
  check_cases({
      {"AffineGrid", {identity, size}, {}, {tensor({1, 2, 2, 2}, {-0.5, -0.5, 0.5, -0.5, -0.5, 0.5, 0.5, 0.5})}},
      {"AffineGrid",
       {identity, size},
       {{attr("align_corners", 1)}},
       {tensor({1, 2, 2, 2}, {-1, -1, 1, -1, -1, 1, 1, 1})}},
  });
}

TEST_CASE("DeformConv without offsets is a convolution, with them it moves") {
  const Tensor picture = counting({1, 1, 3, 3}), kernel = tensor({1, 1, 2, 2}, {1, 0, 0, 1});
  const Tensor still = Tensor::zeros(DType::kF32, {1, 8, 2, 2});
  Tensor moved = still;
  for (int64_t i = 0; i < 4; ++i) moved.mutable_data<float>()[4 + i] = 0.5F;  // the first tap looks half a pixel right
  check_cases({
      {"DeformConv", {picture, kernel, still}, {}, {tensor({1, 1, 2, 2}, {4, 6, 10, 12})}},
      {"DeformConv", {picture, kernel, moved, tensor({1}, {1})}, {}, {tensor({1, 1, 2, 2}, {5.5, 7.5, 11.5, 13.5})}},
      {"DeformConv",
       {picture, kernel, still, Datum(), Tensor::zeros(DType::kF32, {1, 4, 2, 2})},
       {},
       {Tensor::zeros(DType::kF32, {1, 1, 2, 2})}},
  });
  check_errors({
      {"DeformConv", {picture, kernel, Tensor::zeros(DType::kF32, {1, 8, 3, 3})}, {}, "offsets have the shape"},
      {"DeformConv", {picture, kernel, still}, {{attr("group", 2)}}, "groups"},
  });
}

TEST_CASE("MaxUnpool and Col2Im put back what pooling and unfolding took") {
  check_cases({
      {"MaxUnpool",
       {tensor({1, 1, 1, 2}, {5, 6}), Tensor::of<int64_t>({1, 1, 1, 2}, {5, 2})},
       {{attr("kernel_shape", Ints{2, 2}), attr("strides", Ints{2, 2})}},
       {tensor({1, 1, 2, 4}, {0, 0, 6, 0, 0, 5, 0, 0})}},
      {"Col2Im",
       {tensor({1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), Tensor::ints({2, 3}), Tensor::ints({2, 2})},
       {},
       {tensor({1, 1, 2, 3}, {1, 5, 4, 5, 13, 8})}},
  });
  check_errors({
      {"MaxUnpool",
       {tensor({1, 1, 1}, {5}), Tensor::of<int64_t>({1, 1, 1}, {7})},
       {{attr("kernel_shape", Ints{2})}},
       "outside the output"},
      {"Col2Im",
       {tensor({1, 4, 3}, std::vector<double>(12, 0)), Tensor::ints({2, 3}), Tensor::ints({2, 2})},
       {},
       "fit the blocks"},
      {"Col2Im",
       {tensor({1, 4, 2}, std::vector<double>(8, 0)), Tensor::ints({1, 1}), Tensor::ints({2, 2})},
       {},
       "larger than"},
  });
}

}  // namespace
}  // namespace mlopt::test
