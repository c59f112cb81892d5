#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {
namespace {

Tensor floats(const std::vector<double>& values) { return tensor({static_cast<int64_t>(values.size())}, values); }

}  // namespace

std::vector<GradCase> resize_cases() {
  const Tensor x = real({1, 2, 4, 5});
  const Tensor scales = floats({1, 1, 1.6, 0.7}), sizes = tensor({4}, {1, 2, 7, 3}, DType::kI64);
  std::vector<GradCase> rows;
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* how :
         {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"}) {
      const std::vector<Attr> attrs = {attr("mode", mode), attr("coordinate_transformation_mode", how)};
      rows.push_back({"Resize", {x, Datum(), scales}, {.attrs = attrs}});
      rows.push_back({"Resize", {x, Datum(), Datum(), sizes}, {.attrs = attrs, .opset = 13}});
    }
  for (const char* nearest : {"floor", "ceil", "round_prefer_ceil"})
    rows.push_back({"Resize", {x, Datum(), scales}, {.attrs = {attr("nearest_mode", nearest)}}});
  const auto axes = attr("axes", AttrValue(std::vector<int64_t>{3, 2})), linear = attr("mode", "linear");
  rows.push_back({"Resize", {x, Datum(), floats({2, 0.5})}, {.attrs = {axes, linear, attr("antialias", 1)}}});
  rows.push_back({"Resize",
                  {x, floats({0.1, 0.2, 0.8, 1.3}), Datum(), tensor({2}, {6, 3}, DType::kI64)},
                  {.attrs = {axes, linear, attr("coordinate_transformation_mode", "tf_crop_and_resize")}}});
  for (const char* mode : {"nearest", "linear"}) {
    rows.push_back({"Resize", {x, scales}, {.attrs = {attr("mode", mode)}, .opset = 10}});
    rows.push_back({"Upsample", {x, floats({1, 1, 2, 1.5})}, {.attrs = {attr("mode", mode)}, .opset = 9}});
    const auto list = attr("scales", AttrValue(std::vector<float>{1, 1, 1.5f, 2}));
    rows.push_back({"Upsample", {x}, {.attrs = {attr("mode", mode), list}, .opset = 7}});
  }
  return rows;
}

TEST_CASE("gradients of resizing") { check_gradients(resize_cases()); }

}  // namespace mlopt::test
