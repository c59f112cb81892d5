#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("Resize on a GPU") {
  const Tensor x = uniform({2, 3, 5, 7}, -1, 1);
  const Datum none = tensor({0}, {});
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}) {
      const std::vector<Attr> attrs{attr("mode", mode), attr("coordinate_transformation_mode", coordinates)};
      INFO(mode << ", " << coordinates);
      require_on_gpu("Resize", {x, none, tensor({4}, {1, 1, 2, 0.6})}, {.attrs = attrs, .fixed = true});
      require_on_gpu("Resize", {x, none, none, Tensor::ints({2, 3, 11, 4})}, {.attrs = attrs, .fixed = true});
    }
  require_on_gpu("Resize", {counting({1, 2, 3, 4}, DType::kU8), none, tensor({4}, {1, 1, 2, 2})}, {.fixed = true}, 0);
  require_on_gpu("Upsample", {x, tensor({4}, {1, 1, 2, 3})},
                 {.attrs = {attr("mode", "linear")}, .opset = 9, .fixed = true});
}

TEST_CASE("Resize with wider kernels, without what is outside, and by one scale on a GPU") {
  const Tensor x = uniform({2, 3, 9, 7}, -1, 1);
  const Datum none = tensor({0}, {});
  for (const char* mode : {"linear", "cubic"})
    for (const char* option : {"antialias", "exclude_outside"}) {
      const std::vector<Attr> attrs{attr("mode", mode), attr(option, 1)};
      INFO(mode << ", " << option);
      require_on_gpu("Resize", {x, none, tensor({4}, {1, 1, 0.4, 0.6})}, {.attrs = attrs, .fixed = true});
      require_on_gpu("Resize", {x, none, none, Tensor::ints({2, 3, 4, 15})}, {.attrs = attrs, .fixed = true});
    }
  for (const char* policy : {"not_larger", "not_smaller"})
    require_on_gpu(
        "Resize", {x, none, none, Tensor::ints({12, 5})},
        {.attrs = {attr("keep_aspect_ratio_policy", policy), attr("axes", std::vector<int64_t>{2, 3})}, .fixed = true});
}

TEST_CASE("Resize of a part of the input on a GPU") {
  const Tensor x = uniform({2, 3, 9, 7}, -1, 1), roi = tensor({4}, {0.2, -0.3, 0.7, 1.4});
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    const std::vector<Attr> attrs{attr("mode", mode), attr("axes", std::vector<int64_t>{2, 3}),
                                  attr("coordinate_transformation_mode", "tf_crop_and_resize"),
                                  attr("extrapolation_value", 3.5f)};
    INFO(mode);
    require_on_gpu("Resize", {x, roi, Datum(), Tensor::ints({5, 11})}, {.attrs = attrs, .fixed = true});
    require_on_gpu("Resize", {x, roi, tensor({2}, {1, 1})}, {.attrs = attrs, .fixed = true});
  }
}

TEST_CASE("the gradient of Resize on a GPU") {
  const Dims shape{2, 3, 5, 7};
  const Datum none = tensor({0}, {});
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners"})
      for (const Tensor& scales :
           {tensor({4}, {1, 1, 2, 0.6}), tensor({4}, {1, 1, 0.4, 1}), tensor({4}, {1, 1, 1, 1})}) {
        std::vector<Attr> attrs{attr("mode", mode), attr("coordinate_transformation_mode", coordinates)};
        INFO(mode << ", " << coordinates);
        const Tensor made = run_op("Resize", {Tensor::zeros(DType::kF32, shape), none, scales}, {.attrs = attrs});
        attrs.push_back({"shape", shape, {}});
        attrs.push_back({"type0", Type::tensor(DType::kF32, shape), {}});
        require_on_gpu("ResizeGrad", {uniform(made.dims(), -1, 1), none, scales},
                       {.attrs = attrs, .domain = "mlopt", .fixed = true});
      }
}

}  // namespace mlopt::test
