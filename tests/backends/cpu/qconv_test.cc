#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/conv_cases.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

/// A sum of K products with scales 0.05 and 0.01 in steps of `scale` uses the output's range without leaving it.
std::vector<Datum> inputs_of(const ConvCase& c, DType x_type, DType w_type, bool by_channel, double half_weight,
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

}  // namespace

TEST_CASE("QLinearConv gives the reference's steps, whichever way the products are made") {
  // Weights up to 64 suit every processor's products of bytes; up to 127 only some.
  for (const double half : {64.0, 127.0})
    for (const DType x_type : {DType::kU8, DType::kI8})
      for (const DType w_type : {DType::kI8, DType::kU8})
        for (const ConvCase& c : kByteConvCases) {
          INFO(to_string(c.x) << " " << name(x_type) << " with " << to_string(c.w) << " " << name(w_type) << " to "
                              << half);
          require_as_reference("QLinearConv", inputs_of(c, x_type, w_type, false, half, true),
                               {.attrs = c.attrs(), .fixed = true}, 0, 1);
          require_as_reference("QLinearConv", inputs_of(c, x_type, w_type, true, half, false),
                               {.attrs = c.attrs(), .fixed = true}, 0, 1);
        }
}

TEST_CASE("neighbouring input channels share the 16 bits of a pair of products") {
  // Two weights of 127 beside each other would not fit; 127 and 1 do, in whichever place of a filter they stand.
  for (const ConvCase& c : {ConvCase{{1, 64, 9, 9}, {33, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
                            ConvCase{{2, 16, 11, 5}, {9, 16, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
                            ConvCase{{1, 512, 7, 7}, {64, 512, 1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
                            ConvCase{{1, 4, 30, 30}, {16, 4, 7, 7}, {2, 2}, {1, 1}, {3, 3, 3, 3}},
                            ConvCase{{1, 2, 12, 12}, {8, 2, 5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}},
                            ConvCase{{1, 6, 12, 12}, {24, 6, 3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}},
                            ConvCase{{1, 16, 8, 8}, {32, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 4},
                            ConvCase{{1, 64, 8, 8}, {64, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 4},
                            ConvCase{{3, 10, 17}, {6, 10, 3}, {2}, {1}, {1, 0}}}) {
    INFO(to_string(c.x) << " with " << to_string(c.w));
    std::vector<Datum> inputs = inputs_of(c, DType::kU8, DType::kI8, false, 127, false);
    inputs[0] = uniform(c.x, 200, 255, DType::kU8, 1);
    Tensor w(DType::kI8, c.w);
    const int64_t channels = c.w[1], places = w.size() / c.w[0] / channels;
    for (int64_t i = 0; i < w.size(); ++i) {
      const int64_t channel = i / places % channels;
      const bool large = (channel + (channel / 2 + i % places) % 3) % 2 == 0;  // one of two neighbours, changing sides
      w.mutable_data<int8_t>()[i] = static_cast<int8_t>((large ? 127 : 1) * (i % 7 < 4 ? 1 : -1));
    }
    inputs[3] = w;
    require_as_reference("QLinearConv", inputs, {.attrs = c.attrs(), .fixed = true}, 0, 1);
  }
}

TEST_CASE("QLinearConv without constant weights is the next kernel's") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const auto inputs = inputs_of(kByteConvCases[0], DType::kU8, DType::kI8, true, 127, true);
  require_close(run_op("QLinearConv", inputs, {.attrs = kByteConvCases[0].attrs(), .backend = cpu.get()}),
                run_op("QLinearConv", inputs, {.attrs = kByteConvCases[0].attrs()}));
}

TEST_CASE("QLinearConvAdd gives the steps of a convolution and a sum") {
  for (const DType type : {DType::kU8, DType::kI8})
    for (const ConvCase& c : kByteConvCases) {
      INFO(to_string(c.x) << " " << name(type) << " with " << to_string(c.w));
      std::vector<Datum> inputs = inputs_of(c, type, DType::kI8, true, 127, true);
      const Tensor sums = run_op("QLinearConv", inputs, {.attrs = c.attrs()});
      const double scale = to_doubles(inputs[6].tensor())[0], low = type == DType::kI8 ? -128 : 0;
      for (const Datum& more : {Datum(uniform(sums.dims(), low, low + 255, type, 7)), Datum(tensor({}, {scale * 0.7})),
                                Datum(tensor({}, {low + 99}, type)), Datum(tensor({}, {scale * 1.4})),
                                Datum(tensor({}, {low + 140}, type))})
        inputs.push_back(more);
      require_as_reference("QLinearConvAdd", inputs, {.attrs = c.attrs(), .domain = "mlopt", .fixed = true}, 0, 1);
    }
}

}  // namespace mlopt::test
