#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

/// A Resize of `from` by scales; attributes as given.
OpCase scaled(const Tensor& from, std::vector<double> scales, std::vector<Attr> attrs, const Tensor& expected) {
  const auto n = static_cast<int64_t>(scales.size());
  return {"Resize", {from, Datum(), tensor({n}, scales)}, {std::move(attrs)}, {expected}, 1e-5};
}
OpCase sized(const Tensor& from, const Ints& sizes, std::vector<Attr> attrs, const Tensor& expected) {
  return {"Resize", {from, Datum(), Datum(), Tensor::ints(sizes)}, {std::move(attrs)}, {expected}, 1e-5};
}
Attr coordinates(const char* name) { return attr("coordinate_transformation_mode", name); }

TEST_CASE("Resize by the nearest element in each rounding and coordinate") {
  const Tensor line = tensor({4}, {1, 2, 3, 4});
  check_cases({
      scaled(line, {1.5}, {}, tensor({6}, {1, 1, 2, 3, 3, 4})),
      scaled(line, {1.5}, {coordinates("asymmetric"), attr("nearest_mode", "floor")}, tensor({6}, {1, 1, 2, 3, 3, 4})),
      scaled(line, {1.5}, {coordinates("asymmetric"), attr("nearest_mode", "ceil")}, tensor({6}, {1, 2, 3, 3, 4, 4})),
      sized(line, {7}, {coordinates("align_corners"), attr("nearest_mode", "round_prefer_ceil")},
            tensor({7}, {1, 2, 2, 3, 3, 4, 4})),
      sized(line, {7}, {coordinates("align_corners"), attr("nearest_mode", "round_prefer_floor")},
            tensor({7}, {1, 1, 2, 2, 3, 3, 4})),
      scaled(tensor({2}, {-3, 5}, DType::kI4), {2}, {}, tensor({4}, {-3, -3, 5, 5}, DType::kI4)),
      scaled(Tensor::of_strings({2}, {"a", "b"}), {0.5}, {}, Tensor::of_strings({1}, {"a"})),
      {"Resize", {line, tensor({1}, {1.5})}, {{}, 10}, {tensor({6}, {1, 1, 2, 3, 3, 4})}},
      // ONNX's own test of the operator when it was new.
      {"Resize",
       {tensor({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), tensor({4}, {1, 1, 0.6, 0.6})},
       {{}, 10},
       {tensor({1, 1, 1, 2}, {1, 3})}},
      {"Resize",
       {tensor({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), tensor({1}, {0.7})},
       {{}, 10},
       {tensor({7}, {0, 2, 3, 5, 6, 8, 9})}},
      {"Upsample", {line, tensor({1}, {2})}, {{}, 9}, {tensor({8}, {1, 1, 2, 2, 3, 3, 4, 4})}},
      {"Upsample", {line}, {{attr("scales", std::vector<float>{2})}, 7}, {tensor({8}, {1, 1, 2, 2, 3, 3, 4, 4})}},
  });
}

TEST_CASE("Resize interpolates") {
  const Tensor pair = tensor({2}, {0, 4}), line = tensor({4}, {1, 2, 3, 4});
  const Attr linear = attr("mode", "linear"), cubic = attr("mode", "cubic");
  check_cases({
      scaled(pair, {2}, {linear}, tensor({4}, {0, 1, 3, 4})),
      scaled(pair, {2}, {linear, coordinates("asymmetric")}, tensor({4}, {0, 2, 4, 4})),
      sized(pair, {3}, {linear, coordinates("align_corners")}, tensor({3}, {0, 2, 4})),
      sized(pair, {1}, {linear, coordinates("pytorch_half_pixel")}, tensor({1}, {0})),
      sized(pair, {1}, {linear, coordinates("half_pixel")}, tensor({1}, {2})),
      scaled(tensor({2}, {0, 4}, DType::kU8), {2}, {linear}, tensor({4}, {0, 1, 3, 4}, DType::kU8)),
      scaled(tensor({2}, {0, 4}, DType::kF64), {2}, {linear}, tensor({4}, {0, 1, 3, 4}, DType::kF64)),
      // Keys' kernel with a = -0.75 at 0.25 from a point: -0.10546875, 0.87890625, 0.26171875, -0.03515625.
      sized(line, {8}, {cubic},
            tensor({8}, {0.89453125, 1.19140625, 1.66796875, 2.296875, 2.703125, 3.33203125, 3.80859375, 4.10546875})),
      // A triangle twice as wide: 1/8 3/8 3/8 1/8, the edge repeated.
      sized(line, {2}, {linear, attr("antialias", 1)}, tensor({2}, {1.625, 3.375})),
      // The weights outside the picture are dropped and the rest scaled up: (3/8 1/8) / (1/2) and so on.
      sized(line, {2}, {linear, attr("antialias", 1), attr("exclude_outside", 1)}, tensor({2}, {12.0 / 7, 23.0 / 7})),
  });
}

TEST_CASE("Resize of some axes, of a region, and with the aspect ratio kept") {
  const Tensor square = counting({1, 2, 2}), roi = tensor({2}, {0.5, 1.5});
  check_cases({
      {"Resize",
       {square, Datum(), tensor({1}, {2})},
       {{attr("axes", Ints{-1})}},
       {tensor({1, 2, 4}, {0, 0, 1, 1, 2, 2, 3, 3})}},
      {"Resize",
       {tensor({3}, {0, 1, 2}), roi, Datum(), Tensor::ints({3})},
       {{coordinates("tf_crop_and_resize"), attr("mode", "linear"), attr("extrapolation_value", 9.0F)}},
       {tensor({3}, {1, 2, 9})}},
      {"Resize",
       {tensor({3}, {0, 1, 2}), roi, Datum(), Tensor::ints({3})},
       {{coordinates("tf_crop_and_resize"), attr("extrapolation_value", 9.0F)}},
       {tensor({3}, {1, 2, 9})}},
      sized(counting({2, 4}), {4, 4}, {attr("keep_aspect_ratio_policy", "not_larger")}, counting({2, 4})),
      sized(counting({1, 2}), {1, 4}, {attr("keep_aspect_ratio_policy", "not_smaller")},
            tensor({2, 4}, {0, 0, 1, 1, 0, 0, 1, 1})),
  });
}

TEST_CASE("Resize refuses what makes no picture") {
  const Tensor line = counting({4});
  check_errors({
      {"Resize", {line}, {}, "neither scales nor sizes"},
      {"Resize", {line, Datum(), tensor({2}, {1, 1})}, {}, "2 scales"},
      {"Resize", {line, Datum(), tensor({1}, {-1})}, {}, "impossible shape"},
      {"Resize", {line, Datum(), tensor({1}, {1e30})}, {}, "impossible shape"},
      {"Resize", {line, Datum(), Datum(), Tensor::ints({-1})}, {}, "negative"},
      {"Resize", {line, Datum(), Datum(), Tensor::ints({int64_t{1} << 40})}, {}, ""},
      {"Resize", {Tensor(DType::kF32, {0}), Datum(), Datum(), Tensor::ints({2})}, {}, "empty axis"},
      {"Resize", {line, Datum(), tensor({1}, {2})}, {{attr("mode", "lanczos")}}, "'lanczos'"},
      {"Resize", {line, Datum(), tensor({1}, {2})}, {{coordinates("tf_crop_and_resize")}}, "roi"},
  });
}

}  // namespace
}  // namespace mlopt::test
