#include <vector>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

struct Case {
  int64_t groups, channels, filters;  ///< channels and filters of one group
  int64_t height, width, kernel_h, kernel_w;
  std::vector<int64_t> strides = {1, 1}, dilations = {1, 1}, pads = {0, 0, 0, 0}, extra = {0, 0};
};

/// Each input element adds its multiple of the kernel to the output.
Tensor plain(const Case& c, const Tensor& x, const Tensor& w, const Tensor& b) {
  const std::vector<double> xs = to_doubles(x), ws = to_doubles(w), bs = to_doubles(b);
  const int64_t oh =
      c.strides[0] * (c.height - 1) + c.extra[0] + (c.kernel_h - 1) * c.dilations[0] + 1 - c.pads[0] - c.pads[2];
  const int64_t ow =
      c.strides[1] * (c.width - 1) + c.extra[1] + (c.kernel_w - 1) * c.dilations[1] + 1 - c.pads[1] - c.pads[3];
  const int64_t batch = x.dim(0), filters = c.groups * c.filters, channels = c.groups * c.channels;
  std::vector<double> y(static_cast<size_t>(batch * filters * oh * ow));
  for (size_t i = 0; i < y.size(); ++i) y[i] = bs[i / static_cast<size_t>(oh * ow) % static_cast<size_t>(filters)];
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t k = 0; k < channels; ++k)
      for (int64_t f = 0; f < c.filters; ++f)
        for (int64_t i = 0; i < c.height * c.width; ++i)
          for (int64_t t = 0; t < c.kernel_h * c.kernel_w; ++t) {
            const int64_t r = i / c.width * c.strides[0] - c.pads[0] + t / c.kernel_w * c.dilations[0];
            const int64_t s = i % c.width * c.strides[1] - c.pads[1] + t % c.kernel_w * c.dilations[1];
            if (r < 0 || r >= oh || s < 0 || s >= ow) continue;
            const int64_t filter = k / c.channels * c.filters + f;
            y[static_cast<size_t>(((n * filters + filter) * oh + r) * ow + s)] +=
                xs[static_cast<size_t>((n * channels + k) * c.height * c.width + i)] *
                ws[static_cast<size_t>((k * c.filters + f) * c.kernel_h * c.kernel_w + t)];
          }
  return tensor({batch, filters, oh, ow}, y, x.dtype());
}

}  // namespace

TEST_CASE("ConvTranspose equals its definition") {
  const Case cases[] = {
      {1, 1, 1, 3, 3, 3, 3},
      {1, 3, 2, 4, 3, 3, 2, {2, 3}, {1, 2}, {1, 0, 0, 1}, {1, 2}},
      {2, 2, 3, 5, 4, 2, 3, {1, 2}, {2, 1}, {0, 1, 1, 1}},
      {4, 1, 1, 5, 4, 3, 3, {2, 2}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {1, 2, 30, 40, 40, 5, 5, {2, 2}, {1, 1}, {1, 1, 1, 1}},  // more than one block
  };
  for (const Case& c : cases) {
    INFO("case " << &c - cases);
    for (const DType type : {DType::kF32, DType::kF64}) {
      const Tensor x = uniform({2, c.groups * c.channels, c.height, c.width}, -1, 1, type, 1);
      const Tensor w = uniform({c.groups * c.channels, c.filters, c.kernel_h, c.kernel_w}, -1, 1, type, 2);
      const Tensor b = uniform({c.groups * c.filters}, -1, 1, type, 3);
      const OpOptions options{.attrs = {{"strides", c.strides, ""},
                                        {"dilations", c.dilations, ""},
                                        {"pads", c.pads, ""},
                                        {"output_padding", c.extra, ""},
                                        {"group", c.groups, ""}}};
      require_close(run_op("ConvTranspose", {x, w, b}, options), plain(c, x, w, b), type == DType::kF64 ? 1e-12 : 2e-5);
    }
  }
}

TEST_CASE("ConvTranspose finds the padding for the output asked for") {
  const Tensor x = tensor({1, 1, 2}, {1, 10}), w = tensor({1, 1, 3}, {1, 2, 3});
  const auto run = [&](std::vector<Attr> attrs) {
    attrs.push_back({"strides", std::vector<int64_t>{2}, ""});
    return run_op("ConvTranspose", {x, w}, {.attrs = std::move(attrs)});
  };
  // Without padding: 1 2 13 20 30.
  require_close(run({{"auto_pad", std::string("VALID"), ""}}), tensor({1, 1, 5}, {1, 2, 13, 20, 30}));
  require_close(run({{"output_shape", std::vector<int64_t>{4}, ""}}), tensor({1, 1, 4}, {2, 13, 20, 30}));
  require_close(run({{"output_shape", std::vector<int64_t>{1, 1, 4}, ""}, {"auto_pad", std::string("SAME_UPPER"), ""}}),
                tensor({1, 1, 4}, {1, 2, 13, 20}));
  require_close(run({{"auto_pad", std::string("SAME_LOWER"), ""}}), tensor({1, 1, 4}, {2, 13, 20, 30}));
}

TEST_CASE("ConvTranspose refuses what does not fit") {
  const Tensor x = uniform({1, 4, 5}, -1, 1), w = uniform({4, 2, 3}, -1, 1);
  const auto ints = [](const char* name, std::vector<int64_t> v) {
    return OpOptions{.attrs = {{name, std::move(v), ""}}};
  };
  error_of("ConvTranspose", {x, uniform({3, 2, 3}, -1, 1)});
  CHECK(error_of("ConvTranspose", {x, w}, ints("output_shape", {int64_t{1} << 40})).find("reaches") !=
        std::string::npos);
  CHECK(error_of("ConvTranspose", {x, w}, ints("pads", {9, 9})).find("reaches") != std::string::npos);
  CHECK(error_of("ConvTranspose", {x, w}, ints("output_padding", {5})).find("output_padding") != std::string::npos);
  error_of("ConvTranspose", {x, w, uniform({3}, -1, 1)});
}

}  // namespace mlopt::test
