#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {

std::vector<GradCase> pool_cases() {
  const auto list = [](const char* name, std::vector<int64_t> values) { return attr(name, AttrValue(values)); };
  const Tensor x = real({2, 3, 6, 7}), line = real({2, 2, 9}), block = real({1, 2, 4, 3, 5});
  std::vector<GradCase> rows;
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
    const auto row = [&](const Tensor& at, std::vector<Attr> attrs, int64_t opset = 21) {
      rows.push_back({op, {at}, {.attrs = std::move(attrs), .opset = opset}});
    };
    row(x, {list("kernel_shape", {2, 3})});
    row(x, {list("kernel_shape", {3, 2}), list("strides", {2, 3}), list("pads", {1, 0, 2, 1})});
    row(x, {list("kernel_shape", {3, 3}), list("strides", {2, 2}), list("pads", {1, 1, 1, 1})}, 9);
    row(x, {list("kernel_shape", {3, 3}), list("strides", {2, 2}), attr("ceil_mode", 1)});
    row(x, {list("kernel_shape", {2, 2}), list("dilations", {2, 3})});
    row(x, {list("kernel_shape", {3, 2}), list("strides", {2, 2}), attr("auto_pad", "SAME_UPPER")});
    row(x, {list("kernel_shape", {2, 4}), list("strides", {1, 2}), attr("auto_pad", "SAME_LOWER")});
    row(x, {list("kernel_shape", {3, 3}), list("strides", {3, 2}), attr("auto_pad", "VALID")}, 7);
    row(line, {list("kernel_shape", {4}), list("strides", {3}), list("pads", {2, 1})});
    row(block, {list("kernel_shape", {2, 2, 3}), list("strides", {2, 1, 2}), list("pads", {0, 1, 1, 1, 0, 0})});
  }
  for (const int ceil_mode : {0, 1})
    rows.push_back({"AveragePool",
                    {x},
                    {.attrs = {list("kernel_shape", {3, 3}), list("strides", {2, 3}), list("pads", {1, 2, 0, 1}),
                               attr("count_include_pad", 1), attr("ceil_mode", ceil_mode)}}});
  rows.push_back({"LpPool", {x}, {.attrs = {list("kernel_shape", {2, 2}), attr("p", 3)}}});
  rows.push_back({"LpPool", {x}, {.attrs = {list("kernel_shape", {2, 2}), attr("p", 1)}}});
  rows.push_back({"MaxPool", {x}, {.attrs = {list("kernel_shape", {2, 2})}, .outputs = 2}});
  return rows;
}

TEST_CASE("gradients of pools") { check_gradients(pool_cases()); }

TEST_CASE("the first of equal maxima gets the gradient") {
  const Attr kernel = attr("kernel_shape", AttrValue(std::vector<int64_t>{2, 2}));
  const Tensor x = tensor({1, 1, 2, 3}, {1, 4, 4, 4, 0, 4});
  const Tensor dx = run_op("MaxPoolGrad", {x, tensor({1, 1, 1, 2}, {5, 7})}, {.attrs = {kernel}, .domain = "mlopt"});
  require_close(dx, tensor({1, 1, 2, 3}, {0, 12, 0, 0, 0, 0}));
}

}  // namespace mlopt::test
