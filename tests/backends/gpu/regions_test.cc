#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("bins of regions of pictures on a GPU") {
  const Tensor x = uniform({2, 3, 11, 9}, -1, 1), places = tensor({4}, {1, 0, 0, 1}, DType::kI64);
  const Tensor regions = tensor({4, 4}, {1.3, 2.2, 7.9, 8.4, 0, 0, 3.1, 2.7, -3, 4, 12, 13, 5, 5, 5.2, 5.1});
  for (const char* mode : {"avg", "max"})
    for (const char* coordinates : {"half_pixel", "output_half_pixel"})
      for (const int sampling : {0, 2}) {
        INFO(mode << ", " << coordinates << ", " << sampling);
        require_on_gpu("RoiAlign", {x, regions, places},
                       {.attrs = {attr("mode", mode), attr("coordinate_transformation_mode", coordinates),
                                  attr("sampling_ratio", sampling), attr("output_height", 3), attr("output_width", 2),
                                  attr("spatial_scale", 0.9f)},
                        .opset = 16},
                       1e-5);
      }
  require_on_gpu("RoiAlign", {x, regions, places}, {.opset = 10}, 1e-5);
}

TEST_CASE("the largest pixel of bins on a GPU") {
  const Tensor x = uniform({2, 3, 11, 9}, -1, 1);
  const Tensor regions = tensor({3, 5}, {1, 1, 2, 7, 8, 0, 0, 0, 3, 2, 1, 20, 4, 30, 9});
  require_on_gpu("MaxRoiPool", {x, regions},
                 {.attrs = {attr("pooled_shape", std::vector<int64_t>{3, 2}), attr("spatial_scale", 0.8f)}}, 0);
}

}  // namespace mlopt::test
