#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

using Ints = std::vector<int64_t>;

TEST_CASE("convolutions on a GPU") {
  struct Case {
    Dims x, w;
    std::vector<Attr> attrs;
  };
  const Case cases[] = {
      {{2, 3, 9, 11}, {20, 3, 3, 3}, {attr("pads", Ints{1, 1, 1, 1})}},
      {{1, 16, 7, 7}, {70, 16, 1, 1}, {}},
      {{2, 5, 8, 9}, {3, 5, 3, 2}, {attr("strides", Ints{2, 1}), attr("pads", Ints{0, 1, 2, 0})}},
      {{1, 8, 10, 10}, {8, 1, 3, 3}, {attr("group", 8), attr("pads", Ints{1, 1, 1, 1})}},
      {{2, 32, 6, 6}, {64, 16, 3, 3}, {attr("group", 2), attr("dilations", Ints{2, 2})}},
      {{2, 6, 30}, {18, 6, 5}, {attr("strides", Ints{3})}},
      {{1, 3, 5, 6, 7}, {17, 3, 2, 3, 3}, {attr("auto_pad", "SAME_UPPER")}},
  };
  for (const Case& c : cases) {
    INFO(to_string(c.x) << " by " << to_string(c.w));
    const Tensor x = uniform(c.x, -1, 1), w = uniform(c.w, -1, 1, DType::kF32, 2),
                 b = uniform({c.w[0]}, -1, 1, DType::kF32, 3);
    require_on_gpu("Conv", {x, w, b}, {.attrs = c.attrs});
    require_on_gpu("Conv", {x, w}, {.attrs = c.attrs});
  }
  require_on_gpu("Conv", {uniform({1, 16, 6, 6}, -1, 1, DType::kF16), uniform({16, 16, 3, 3}, -1, 1, DType::kF16)}, {},
                 1e-2);
}

TEST_CASE("a fused convolution on a GPU adds, then activates") {
  const Tensor x = uniform({2, 8, 6, 6}, -1, 1), w = uniform({24, 8, 3, 3}, -1, 1), b = uniform({24}, -1, 1),
               z = uniform({2, 24, 4, 4}, -1, 1);
  require_on_gpu("FusedConv", {x, w, b, z}, {.attrs = {attr("activation", "Relu")}, .domain = "com.microsoft"});
}

TEST_CASE("transposed convolutions on a GPU") {
  const Tensor x = uniform({2, 6, 5, 4}, -1, 1), b = uniform({4}, -1, 1);
  require_on_gpu("ConvTranspose", {x, uniform({6, 4, 3, 3}, -1, 1), b});
  require_on_gpu("ConvTranspose", {x, uniform({6, 2, 3, 2}, -1, 1), b},
                 {.attrs = {attr("group", 2), attr("strides", Ints{2, 3}), attr("pads", Ints{1, 0, 1, 1}),
                            attr("output_padding", Ints{1, 0})}});
  require_on_gpu("ConvTranspose", {uniform({1, 3, 7}, -1, 1), uniform({3, 5, 4}, -1, 1)},
                 {.attrs = {attr("strides", Ints{2}), attr("dilations", Ints{2})}});
}

}  // namespace mlopt::test
