#include <vector>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

/// A two-dimensional convolution; other ranks are made of it with axes of 1.
struct Case {
  int64_t batch, groups, channels, filters;  ///< channels and filters of one group
  int64_t height, width, kernel_h, kernel_w;
  std::vector<int64_t> strides = {1, 1}, dilations = {1, 1}, pads = {0, 0, 0, 0};
  bool bias = true;
};

int64_t out_length(const Case& c, int axis) {
  const auto a = static_cast<size_t>(axis);
  const int64_t in = axis == 0 ? c.height : c.width, kernel = axis == 0 ? c.kernel_h : c.kernel_w;
  return (in + c.pads[a] + c.pads[a + 2] - (kernel - 1) * c.dilations[a] - 1) / c.strides[a] + 1;
}

Tensor plain_conv(const Case& c, const Tensor& x, const Tensor& w, const Tensor& b) {
  const std::vector<double> xs = to_doubles(x), ws = to_doubles(w), bs = to_doubles(b);
  const int64_t oh = out_length(c, 0), ow = out_length(c, 1), filters = c.groups * c.filters;
  std::vector<double> y;
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t m = 0; m < filters; ++m)
      for (int64_t i = 0; i < oh; ++i)
        for (int64_t j = 0; j < ow; ++j) {
          double sum = c.bias ? bs[static_cast<size_t>(m)] : 0;
          for (int64_t k = 0; k < c.channels; ++k)
            for (int64_t p = 0; p < c.kernel_h; ++p)
              for (int64_t q = 0; q < c.kernel_w; ++q) {
                const int64_t r = i * c.strides[0] - c.pads[0] + p * c.dilations[0];
                const int64_t s = j * c.strides[1] - c.pads[1] + q * c.dilations[1];
                if (r < 0 || r >= c.height || s < 0 || s >= c.width) continue;
                const int64_t channel = m / c.filters * c.channels + k;
                const int64_t at = ((n * c.groups * c.channels + channel) * c.height + r) * c.width + s;
                sum += xs[static_cast<size_t>(at)] *
                       ws[static_cast<size_t>(((m * c.channels + k) * c.kernel_h + p) * c.kernel_w + q)];
              }
          y.push_back(sum);
        }
  return tensor({c.batch, filters, oh, ow}, y, x.dtype());
}

void check(const Case& c, DType type, double tolerance) {
  const Tensor x = uniform({c.batch, c.groups * c.channels, c.height, c.width}, -1, 1, type, 1);
  const Tensor w = uniform({c.groups * c.filters, c.channels, c.kernel_h, c.kernel_w}, -1, 1, type, 2);
  const Tensor b = uniform({c.groups * c.filters}, -1, 1, type, 3);
  std::vector<Datum> inputs{x, w};
  if (c.bias) inputs.emplace_back(b);
  const OpOptions options{
      .attrs = {
          {"strides", c.strides, ""}, {"dilations", c.dilations, ""}, {"pads", c.pads, ""}, {"group", c.groups, ""}}};
  require_close(run_op("Conv", inputs, options), plain_conv(c, x, w, b), tolerance);
}

}  // namespace

TEST_CASE("Conv equals its definition") {
  const Case cases[] = {
      {1, 1, 1, 1, 5, 5, 3, 3},
      {2, 1, 3, 4, 7, 6, 3, 2, {2, 1}, {1, 2}, {1, 0, 2, 1}},
      {2, 1, 5, 3, 4, 6, 1, 1},  // the input is the matrix
      {1, 1, 5, 3, 4, 6, 1, 1, {2, 2}},
      {2, 3, 2, 4, 6, 5, 2, 3, {1, 1}, {1, 1}, {0, 2, 1, 0}, false},
      {2, 6, 1, 1, 9, 8, 3, 3, {2, 2}, {1, 1}, {1, 1, 1, 1}},  // depthwise
      {1, 4, 1, 3, 5, 5, 3, 3, {1, 1}, {2, 2}, {2, 2, 2, 2}},  // several filters for each channel
      {1, 1, 2, 2, 3, 3, 3, 3, {1, 1}, {1, 1}, {4, 4, 4, 4}},  // windows that lie in the padding alone
      {0, 1, 2, 2, 3, 3, 2, 2},
      {1, 1, 60, 3, 40, 40, 5, 5},  // more than one block of windows
  };
  for (const Case& c : cases) {
    INFO("case " << &c - cases);
    check(c, DType::kF32, 2e-5);
    check(c, DType::kF64, 1e-12);
  }
  check(cases[1], DType::kF16, 2e-3);
  check(cases[5], DType::kBF16, 2e-2);
}

TEST_CASE("Conv takes any number of spatial axes") {
  // The same numbers as one, two and three axes.
  const Tensor x = uniform({2, 3, 11}, -1, 1), w = uniform({4, 3, 3}, -1, 1);
  const Tensor want =
      plain_conv({2, 1, 3, 4, 1, 11, 1, 3, {1, 2}, {1, 1}, {0, 1, 0, 1}, false}, x, w, Tensor::zeros(DType::kF32, {4}));
  const auto attrs = [](size_t rank) {
    std::vector<int64_t> strides(rank, 1), pads(2 * rank, 0);
    strides.back() = 2, pads[rank - 1] = pads.back() = 1;
    return OpOptions{.attrs = {{"strides", strides, ""}, {"pads", pads, ""}}};
  };
  require_close(run_op("Conv", {x, w}, attrs(1)), want.reshaped({2, 4, 6}), 1e-5);
  require_close(run_op("Conv", {x.reshaped({2, 3, 1, 1, 11}), w.reshaped({4, 3, 1, 1, 3})}, attrs(3)),
                want.reshaped({2, 4, 1, 1, 6}), 1e-5);
}

TEST_CASE("Conv pads by itself") {
  const Tensor x = tensor({1, 1, 1, 4}, {1, 2, 3, 4}), w = tensor({1, 1, 1, 2}, {1, 10});
  const auto with = [](const char* mode) { return OpOptions{.attrs = {{"auto_pad", std::string(mode), ""}}}; };
  require_close(run_op("Conv", {x, w}, with("SAME_UPPER")), tensor({1, 1, 1, 4}, {21, 32, 43, 4}));
  require_close(run_op("Conv", {x, w}, with("SAME_LOWER")), tensor({1, 1, 1, 4}, {10, 21, 32, 43}));
  require_close(run_op("Conv", {x, w}, with("VALID")), tensor({1, 1, 1, 3}, {21, 32, 43}));
}

TEST_CASE("FusedConv adds Z and applies its activation") {
  const Tensor x = tensor({1, 1, 1, 3}, {1, -2, 3}), w = tensor({1, 1, 1, 1}, {2}), b = tensor({1}, {1});
  const Tensor z = tensor({1, 1, 1, 3}, {0.5, 1, -20});
  const OpOptions relu{.attrs = {{"activation", std::string("Relu"), ""}}, .domain = "com.microsoft"};
  require_close(run_op("FusedConv", {x, w, b, z}, relu), tensor({1, 1, 1, 3}, {3.5, 0, 0}));
  const OpOptions leaky{
      .attrs = {{"activation", std::string("LeakyRelu"), ""}, {"activation_params", std::vector<float>{0.5F}, ""}},
      .domain = "com.microsoft"};
  require_close(run_op("FusedConv", {x, w, b}, leaky), tensor({1, 1, 1, 3}, {3, -1.5, 7}));
}

TEST_CASE("Conv refuses what does not fit") {
  const Tensor x = uniform({1, 4, 5, 5}, -1, 1), w = uniform({2, 4, 3, 3}, -1, 1);
  const auto ints = [](const char* name, std::vector<int64_t> v) {
    return OpOptions{.attrs = {{name, std::move(v), ""}}};
  };
  CHECK(error_of("Conv", {x, uniform({2, 3, 3, 3}, -1, 1)}).find("channels") != std::string::npos);
  CHECK(error_of("Conv", {x, w}, ints("strides", {1})).find("strides") != std::string::npos);
  CHECK(error_of("Conv", {x, w}, ints("strides", {0, 1})).find("strides") != std::string::npos);
  CHECK(error_of("Conv", {x, w}, ints("dilations", {int64_t{1} << 62, 1})).find("dilations") != std::string::npos);
  CHECK(error_of("Conv", {x, w}, ints("dilations", {3, 1})).find("does not fit") != std::string::npos);
  CHECK(error_of("Conv", {x, w}, ints("kernel_shape", {2, 2})).find("kernel_shape") != std::string::npos);
  error_of("Conv", {x, w, uniform({3}, -1, 1)});
  error_of("Conv", {x, w}, {.attrs = {{"group", int64_t{0}, ""}}});
  error_of("Conv", {x, w}, {.attrs = {{"auto_pad", std::string("SOME"), ""}}});
}

}  // namespace mlopt::test
