#include "core/tensor/cast.h"
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

TEST_CASE("windows on nothing but padding on a GPU") {
  const OpOptions beside{
      .attrs = {attr("kernel_shape", Ints{2}), attr("dilations", Ints{3}), attr("pads", Ints{2, 2})}};
  for (const char* op : {"AveragePool", "MaxPool", "LpPool"}) require_on_gpu(op, {uniform({1, 3, 2}, -1, 1)}, beside);
  for (const DType type : {DType::kI8, DType::kU8})
    require_on_gpu("MaxPool", {uniform({1, 3, 2}, 1, 100, type)}, beside, 0);
}

TEST_CASE("places of the largest on a GPU") {
  for (const int order : {0, 1}) {
    const auto pool = [&](const Tensor& x, std::vector<Attr> attrs) {
      attrs.push_back(attr("storage_order", order));
      require_on_gpu("MaxPool", {x}, {.attrs = std::move(attrs), .outputs = 2}, 0);
    };
    pool(uniform({2, 3, 9, 8}, -3, -1), {attr("kernel_shape", Ints{3, 2}), attr("strides", Ints{2, 2})});
    pool(cast(uniform({1, 2, 9, 8}, -2, 2, DType::kI64), DType::kF32),
         {attr("kernel_shape", Ints{3, 3}), attr("pads", Ints{1, 1, 1, 1})});
    pool(uniform({1, 2, 5, 6, 7}, -1, 1), {attr("kernel_shape", Ints{2, 3, 2})});
    pool(uniform({1, 2, 9}, 0, 200, DType::kU8), {attr("kernel_shape", Ints{2})});
  }
}

TEST_CASE("norms of windows on a GPU") {
  const Tensor x = uniform({2, 3, 9, 8}, -3, 2);
  for (const int p : {1, 2, 3}) {
    const auto pool = [&](std::vector<Attr> attrs) {
      attrs.push_back(attr("p", p));
      require_on_gpu("LpPool", {x}, {.attrs = std::move(attrs)});
    };
    pool({attr("kernel_shape", Ints{3, 2})});
    pool({attr("kernel_shape", Ints{3, 3}), attr("strides", Ints{2, 2}), attr("pads", Ints{1, 0, 1, 1}),
          attr("dilations", Ints{2, 1}), attr("ceil_mode", 1)});
  }
}

TEST_CASE("gradients of pools on a GPU") {
  const std::pair<Dims, std::vector<Attr>> cases[] = {
      {{3, 5, 8, 6}, {attr("kernel_shape", Ints{2, 2}), attr("strides", Ints{2, 2})}},
      {{2, 3, 9, 11}, {attr("kernel_shape", Ints{3, 3}), attr("strides", Ints{2, 2}), attr("pads", Ints{1, 1, 1, 1})}},
      {{1, 2, 14, 15},
       {attr("kernel_shape", Ints{3, 2}), attr("strides", Ints{1, 2}), attr("dilations", Ints{2, 3}),
        attr("pads", Ints{2, 0, 2, 1})}},
      {{1, 2, 8, 9},
       {attr("kernel_shape", Ints{3, 3}), attr("strides", Ints{2, 3}), attr("pads", Ints{0, 1, 1, 0}),
        attr("ceil_mode", 1)}},
      {{1, 2, 9, 9}, {attr("kernel_shape", Ints{2, 2}), attr("strides", Ints{4, 3})}},
      {{3, 2, 29}, {attr("kernel_shape", Ints{4}), attr("strides", Ints{3})}},
      {{1, 3, 5, 6, 7}, {attr("kernel_shape", Ints{2, 3, 2}), attr("strides", Ints{1, 2, 2})}},
  };
  for (const auto& [dims, attrs] : cases)
    for (const char* pool : {"MaxPool", "AveragePool", "LpPool"})
      for (const bool flag : {false, true}) {  // the padding counts; many are the largest; cubes
        const bool max = pool[0] == 'M';
        INFO(pool << " of " << to_string(dims) << flag);
        const Tensor x = max && flag ? cast(uniform(dims, -2, 2, DType::kI64), DType::kF32) : uniform(dims, -1, 1);
        std::vector<Attr> all = attrs;
        if (pool[0] == 'A') all.push_back(attr("count_include_pad", flag ? 1 : 0));
        if (pool[0] == 'L') all.push_back(attr("p", flag ? 3 : 2));
        const Tensor dy = uniform(run_op(pool, {x}, {.attrs = all}).dims(), -1, 1, DType::kF32, 2);
        require_on_gpu(std::string(pool) + "Grad", {x, dy}, {.attrs = all, .domain = "mlopt"});
      }
}

}  // namespace mlopt::test
