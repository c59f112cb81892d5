#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

using Ints = std::vector<int64_t>;

TEST_CASE("pools on a GPU") {
  const Tensor x = uniform({2, 3, 9, 8}, -3, -1);
  for (const char* op : {"MaxPool", "AveragePool"})
    for (const int ceil : {0, 1}) {
      const auto pool = [&](std::vector<Attr> attrs) {
        attrs.push_back(attr("ceil_mode", ceil));
        require_on_gpu(op, {x}, {.attrs = std::move(attrs)});
      };
      pool({attr("kernel_shape", Ints{3, 2})});
      pool({attr("kernel_shape", Ints{3, 3}), attr("strides", Ints{2, 2}), attr("pads", Ints{1, 0, 1, 1})});
      pool({attr("kernel_shape", Ints{2, 2}), attr("strides", Ints{2, 3}), attr("dilations", Ints{2, 2})});
    }
  require_on_gpu("AveragePool", {x},
                 {.attrs = {attr("kernel_shape", Ints{3, 3}), attr("strides", Ints{2, 2}),
                            attr("pads", Ints{1, 1, 1, 1}), attr("ceil_mode", 1), attr("count_include_pad", 1)}});
  require_on_gpu("MaxPool", {uniform({2, 3, 20}, -1, 1)},
                 {.attrs = {attr("kernel_shape", Ints{4}), attr("auto_pad", "SAME_LOWER")}});
  require_on_gpu("AveragePool", {uniform({1, 2, 5, 6, 7}, -1, 1)}, {.attrs = {attr("kernel_shape", Ints{2, 3, 2})}});
}

}  // namespace mlopt::test
