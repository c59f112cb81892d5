#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("deformed convolutions on a GPU") {
  using Ints = std::vector<int64_t>;
  struct Case {
    int64_t groups, offset_groups;
    std::vector<Attr> attrs;
    Dims out;
  };
  const Case cases[] = {
      {1, 1, {}, {5, 6}},
      {2, 4, {attr("pads", Ints{1, 1, 1, 1}), attr("strides", Ints{2, 1})}, {4, 8}},
      {4, 2, {attr("dilations", Ints{2, 2})}, {3, 4}},
  };
  for (const Case& c : cases) {
    INFO(c.groups << " groups, " << c.offset_groups << " of offsets");
    std::vector<Attr> attrs = c.attrs;
    attrs.insert(attrs.end(),
                 {attr("group", static_cast<int>(c.groups)), attr("offset_group", static_cast<int>(c.offset_groups))});
    const int64_t taps = c.offset_groups * 9;
    const Tensor x = uniform({3, 4, 7, 8}, -1, 1), w = uniform({8, 4 / c.groups, 3, 3}, -1, 1, DType::kF32, 2);
    const Tensor offsets = uniform({3, 2 * taps, c.out[0], c.out[1]}, -2.5, 2.5, DType::kF32, 3);
    const Tensor mask = uniform({3, taps, c.out[0], c.out[1]}, 0, 1, DType::kF32, 4), bias = uniform({8}, -1, 1);
    require_on_gpu("DeformConv", {x, w, offsets}, {.attrs = attrs});
    require_on_gpu("DeformConv", {x, w, offsets, bias, mask}, {.attrs = attrs});
  }
}

}  // namespace mlopt::test
