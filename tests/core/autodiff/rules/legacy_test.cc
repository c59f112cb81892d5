#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {

std::vector<GradCase> legacy_cases() {
  const Tensor x = real({2, 3, 5, 6});
  const auto bias = attr("bias", AttrValue(std::vector<float>{1, 2, 3}));
  const auto border = attr("border", AttrValue(std::vector<int64_t>{1, 0, 2, 1}));
  return {
      {"Affine", {x}, {.attrs = {attr("alpha", 0.5f), attr("beta", 2.0f)}, .opset = 1}},
      {"Crop", {x}, {.attrs = {border}, .opset = 7}},
      {"Crop", {x}, {.attrs = {border, attr("scale", AttrValue(std::vector<int64_t>{3, 2}))}, .opset = 7}},
      {"ImageScaler", {x}, {.attrs = {bias, attr("scale", 0.5f)}, .opset = 7}},
      {"Scale", {x}, {.attrs = {attr("scale", 0.5f)}, .opset = 1}},
  };
}

TEST_CASE("gradients of operators that only old models have") { check_gradients(legacy_cases()); }

}  // namespace mlopt::test
