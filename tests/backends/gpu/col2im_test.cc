#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("blocks are added where they lie in a picture on a GPU") {
  using Ints = std::vector<int64_t>;
  const auto require = [](const Dims& blocks, Ints picture, Ints block, std::vector<Attr> attrs) {
    require_on_gpu("Col2Im", {uniform(blocks, -1, 1), Tensor::ints(picture), Tensor::ints(block)},
                   {.attrs = std::move(attrs), .opset = 18, .fixed = true});
  };
  require({2, 12, 12}, {5, 5}, {2, 3}, {});
  require({1, 8, 9}, {5, 5}, {2, 2}, {attr("strides", Ints{2, 2}), attr("pads", Ints{0, 1, 1, 0})});
  require({2, 4, 9}, {5, 5}, {2, 2}, {attr("dilations", Ints{2, 2})});
  require({1, 8, 12}, {3, 4, 3}, {2, 2, 2}, {});
  require({2, 6, 5}, {7}, {3}, {});
}

}  // namespace mlopt::test
