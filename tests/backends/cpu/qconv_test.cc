#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

struct Case {
  Dims x, w;
  Ints strides, dilations, pads;
  int64_t group = 1;
};

const Case kCases[] = {
    {{1, 3, 9, 7}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{2, 16, 11, 5}, {9, 16, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {{1, 8, 12, 13}, {24, 8, 1, 1}, {2, 3}, {1, 1}, {0, 0, 0, 0}},
    {{2, 6, 10, 9}, {6, 1, 3, 3}, {2, 2}, {1, 1}, {0, 1, 1, 0}, 6},
    {{1, 32, 10, 9}, {32, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 32},
    {{1, 12, 8, 8}, {8, 3, 3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}, 4},
    {{3, 4, 17}, {6, 4, 3}, {2}, {1}, {1, 0}},
    {{1, 64, 6, 6}, {33, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
};

/// A sum of K products with scales 0.05 and 0.01 in steps of `scale` uses the output's range without leaving it.
std::vector<Datum> inputs_of(const Case& c, DType x_type, DType w_type, bool by_channel, double half_weight,
                             bool bias) {
  const bool x_signed = x_type == DType::kI8, w_signed = w_type == DType::kI8;
  const double x_zero = x_signed ? -5 : 120, w_zero = w_signed ? 0 : 128;
  const int64_t channels = c.w[0];
  const Tensor x = uniform(c.x, x_signed ? -128 : 0, x_signed ? 127 : 255, x_type, 1);
  const Tensor w = uniform(c.w, w_zero - half_weight, w_zero + half_weight, w_type, 2);
  const Tensor w_scale = by_channel ? uniform({channels}, 0.005, 0.015, DType::kF32, 3) : tensor({}, {0.01});
  const Tensor w_zeros = tensor(by_channel ? Dims{channels} : Dims{},
                                std::vector<double>(by_channel ? static_cast<size_t>(channels) : 1, w_zero), w_type);
  const double taps = static_cast<double>(element_count(c.w) / channels);
  std::vector<Datum> all{x,
                         tensor({}, {0.05}),
                         tensor({}, {x_zero}, x_type),
                         w,
                         w_scale,
                         w_zeros,
                         tensor({}, {0.05 * 0.01 * half_weight * std::sqrt(taps)}),
                         tensor({}, {x_signed ? 3.0 : 131.0}, x_type)};
  if (bias) all.push_back(uniform({channels}, -3000, 3000, DType::kI32, 4));
  return all;
}

std::vector<Attr> attrs_of(const Case& c) {
  return {{"strides", c.strides, ""}, {"dilations", c.dilations, ""}, {"pads", c.pads, ""}, {"group", c.group, ""}};
}

}  // namespace

TEST_CASE("QLinearConv gives the reference's steps, whichever way the products are made") {
  // Weights up to 64 suit every processor's products of bytes; up to 127 only some.
  for (const double half : {64.0, 127.0})
    for (const DType x_type : {DType::kU8, DType::kI8})
      for (const DType w_type : {DType::kI8, DType::kU8})
        for (const Case& c : kCases) {
          INFO(to_string(c.x) << " " << name(x_type) << " with " << to_string(c.w) << " " << name(w_type) << " to "
                              << half);
          require_as_reference("QLinearConv", inputs_of(c, x_type, w_type, false, half, true),
                               {.attrs = attrs_of(c), .fixed = true}, 0, 1);
          require_as_reference("QLinearConv", inputs_of(c, x_type, w_type, true, half, false),
                               {.attrs = attrs_of(c), .fixed = true}, 0, 1);
        }
}

TEST_CASE("QLinearConv without constant weights is the next kernel's") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const auto inputs = inputs_of(kCases[0], DType::kU8, DType::kI8, true, 127, true);
  require_close(run_op("QLinearConv", inputs, {.attrs = attrs_of(kCases[0]), .backend = cpu.get()}),
                run_op("QLinearConv", inputs, {.attrs = attrs_of(kCases[0])}));
}

}  // namespace mlopt::test
