#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {
namespace {

using List = std::vector<int64_t>;

Attr list(const char* name, List values) { return attr(name, AttrValue(std::move(values))); }

void convolutions(std::vector<GradCase>& rows) {
  const Tensor x = real({2, 4, 6, 5}), w = real({6, 4, 3, 2}, -1, 1, 2), b = real({6}, -1, 1, 3);
  const Tensor grouped = real({6, 2, 2, 3}, -1, 1, 2), single = real({4, 1, 3, 3}, -1, 1, 2);
  rows.insert(rows.end(),
              {
                  {"Conv", {x, w}},
                  {"Conv", {x, w, b}, {.attrs = {list("strides", {2, 3}), list("pads", {1, 0, 2, 1})}}},
                  {"Conv", {x, w, b}, {.attrs = {list("dilations", {2, 3}), list("pads", {1, 2, 0, 1})}, .opset = 9}},
                  {"Conv", {x, grouped, b}, {.attrs = {attr("group", 2), list("strides", {1, 2})}}},
                  {"Conv", {x, single}, {.attrs = {attr("group", 4), list("pads", {1, 1, 1, 1})}}},
                  {"Conv", {x, w}, {.attrs = {attr("auto_pad", "SAME_UPPER"), list("strides", {2, 2})}}},
                  {"Conv", {x, w}, {.attrs = {attr("auto_pad", "SAME_LOWER"), list("strides", {1, 3})}}},
                  {"Conv", {x, w}, {.attrs = {attr("auto_pad", "VALID"), list("strides", {3, 2})}}},
                  {"Conv", {real({2, 3, 9}), real({2, 3, 4}, -1, 1, 2)}, {.attrs = {list("strides", {3})}}},
                  {"Conv",
                   {real({1, 2, 3, 4, 3}), real({2, 2, 2, 3, 2}, -1, 1, 2)},
                   {.attrs = {list("pads", {1, 0, 0, 0, 1, 1})}}},
                  {"Conv", {x, real({3, 4, 1, 1}, -1, 1, 2)}, {.attrs = {list("strides", {2, 2})}}},
              });
}

void transposed_convolutions(std::vector<GradCase>& rows) {
  const Tensor x = real({2, 4, 3, 4}), w = real({4, 3, 3, 2}, -1, 1, 2), b = real({3}, -1, 1, 3);
  const auto strides = list("strides", {2, 3});
  rows.insert(rows.end(),
              {
                  {"ConvTranspose", {x, w}},
                  {"ConvTranspose", {x, w, b}, {.attrs = {strides, list("pads", {1, 0, 1, 1})}}},
                  {"ConvTranspose", {x, w, b}, {.attrs = {strides, list("output_padding", {1, 2})}}},
                  {"ConvTranspose", {x, w, b}, {.attrs = {list("dilations", {2, 2}), list("pads", {0, 1, 1, 0})}}},
                  {"ConvTranspose", {x, real({4, 2, 2, 3}, -1, 1, 2)}, {.attrs = {attr("group", 2), strides}}},
                  {"ConvTranspose", {x, w}, {.attrs = {attr("auto_pad", "SAME_UPPER"), strides}}},
                  {"ConvTranspose", {x, w}, {.attrs = {attr("auto_pad", "SAME_LOWER"), strides}}},
                  {"ConvTranspose", {x, w}, {.attrs = {list("output_shape", {6, 10}), strides}}},
                  {"ConvTranspose", {real({1, 2, 4}), real({2, 3, 3}, -1, 1, 2)}, {.attrs = {list("strides", {2})}}},
              });
}

void fused_convolutions(std::vector<GradCase>& rows) {
  const Tensor x = real({2, 3, 4, 5}), w = real({4, 3, 3, 2}, -1, 1, 2), b = real({4}, -1, 1, 3);
  const Tensor z = real({2, 4, 2, 4}, -2, 2, 4);
  const auto row = [&](std::vector<Datum> inputs, std::vector<Attr> attrs) {
    rows.push_back({"FusedConv", std::move(inputs), {.attrs = std::move(attrs), .domain = "com.microsoft"}});
  };
  row({x, w, b}, {attr("activation", "Relu"), list("strides", {2, 2}), list("pads", {1, 0, 0, 1})});
  row({x, w, b, z}, {attr("activation", "Relu")});
  row({x, w, Datum(), z}, {});
  row({x, w}, {attr("activation", "Sigmoid")});
  row({x, w}, {attr("activation", "Tanh")});
  row({x, w, b}, {attr("activation", "Clip"), attr("activation_params", AttrValue(std::vector<float>{-1, 2}))});
  row({x, w, b}, {attr("activation", "LeakyRelu"), attr("activation_params", AttrValue(std::vector<float>{0.2f}))});
}

}  // namespace

std::vector<GradCase> convolution_cases() {
  std::vector<GradCase> rows;
  convolutions(rows);
  transposed_convolutions(rows);
  fused_convolutions(rows);
  return rows;
}

TEST_CASE("gradients of convolutions") { check_gradients(convolution_cases()); }

}  // namespace mlopt::test
