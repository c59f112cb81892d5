#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("pictures are sampled on a GPU as the reference does") {
  const Tensor x = uniform({2, 3, 5, 7}, -1, 1), grid = uniform({2, 4, 6, 2}, -1.7, 1.7, DType::kF32, 2);
  for (const char* mode : {"linear", "nearest", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const int corners : {0, 1}) {
        INFO(mode << " " << padding << " " << corners);
        const OpOptions options{
            .attrs = {attr("mode", mode), attr("padding_mode", padding), attr("align_corners", corners)}};
        require_on_gpu("GridSample", {x, grid}, options);
        if (mode == std::string_view("cubic")) continue;
        const Tensor solid = uniform({1, 2, 3, 4, 5}, -1, 1), places = uniform({1, 2, 3, 4, 3}, -1.5, 1.5);
        require_on_gpu("GridSample", {solid, places}, options);
      }
}

}  // namespace mlopt::test
