#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

OpOptions first(std::vector<Attr> attrs) { return {std::move(attrs), 1}; }

TEST_CASE("operators of the first opset") {
  const Tensor x = tensor({2}, {-1, 2}), picture = counting({1, 2, 2, 2});
  const auto softplus = [](double v) { return std::log1p(std::exp(v)); };
  check_cases({
      {"Affine", {x}, first({attr("alpha", 2.0F), attr("beta", 1.0F)}), {tensor({2}, {-1, 5})}},
      {"Scale", {x}, first({attr("scale", 3.0F)}), {tensor({2}, {-3, 6})}},
      {"ScaledTanh",
       {x},
       first({attr("alpha", 2.0F), attr("beta", 0.5F)}),
       {tensor({2}, {2 * std::tanh(-0.5), 2 * std::tanh(1.0)})}},
      {"ParametricSoftplus",
       {x},
       first({attr("alpha", 2.0F), attr("beta", 0.5F)}),
       {tensor({2}, {2 * softplus(-0.5), 2 * softplus(1)})}},
      {"Erfc", {x}, first({}), {tensor({2}, {std::erfc(-1.0), std::erfc(2.0)})}},
      {"ImageScaler",
       {picture},
       first({attr("scale", 2.0F), attr("bias", std::vector<float>{1, -1})}),
       {tensor({1, 2, 2, 2}, {1, 3, 5, 7, 7, 9, 11, 13})}},
      {"Crop", {picture}, first({attr("border", Ints{1, 0, 0, 1})}), {tensor({1, 2, 1, 1}, {1, 5})}},
      {"Crop",
       {picture},
       first({attr("border", Ints{0, 1, 0, 0}), attr("scale", Ints{1, 2})}),
       {tensor({1, 2, 1, 2}, {2, 3, 6, 7})}},
  });
  check_errors({
      {"ImageScaler", {picture}, first({attr("bias", std::vector<float>{1})}), "each channel"},
      {"Crop", {picture}, first({attr("border", Ints{1, 0, 2, 0})}), "beyond the picture"},
      {"Crop", {picture}, first({attr("border", Ints{1, 0})}), "wrong length"},
  });
}

TEST_CASE("CropAndResize reads regions of a picture") {
  const Tensor picture = counting({1, 1, 3, 3}), region = tensor({1, 4}, {0, 0.5, 1, 1}), zero = Tensor::ints({0}),
               size = Tensor::ints({2, 3});
  const auto with = [](const char* mode) {
    return OpOptions{{attr("mode", mode), attr("extrapolation_value", 9.0F)}, 1, "com.microsoft"};
  };
  check_cases({
      {"CropAndResize",
       {picture, region, zero, size},
       with("bilinear"),
       {tensor({1, 1, 2, 3}, {1, 1.5, 2, 7, 7.5, 8})}},
      {"CropAndResize", {picture, region, zero, Tensor::ints({1, 1})}, with("bilinear"), {tensor({1, 1, 1, 1}, {4.5})}},
      {"CropAndResize",
       {picture, tensor({1, 4}, {0, 0, 2, 0}), zero, Tensor::ints({2, 1})},
       with("nearest"),
       {tensor({1, 1, 2, 1}, {0, 9})}},
  });
  check_errors({{"CropAndResize", {picture, region, Tensor::ints({1}), size}, with("nearest"), "outside the batch"}});
}

}  // namespace
}  // namespace mlopt::test
