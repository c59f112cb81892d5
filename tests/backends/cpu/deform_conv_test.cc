#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

struct Case {
  int64_t batch, channels, filters, groups, offset_groups;
  Ints picture, kernel, strides{1, 1}, pads{0, 0, 0, 0}, dilations{1, 1};

  std::vector<Attr> attrs() const {
    return {Attr{"group", groups, ""},    Attr{"offset_group", offset_groups, ""},
            attr("kernel_shape", kernel), attr("strides", strides),
            attr("pads", pads),           attr("dilations", dilations)};
  }
  /// [batch, maps for each tap, positions...]
  Dims maps(int64_t each) const {
    Dims dims{batch, each * offset_groups * kernel[0] * kernel[1]};
    for (size_t i = 0; i < 2; ++i)
      dims.push_back((picture[i] + pads[i] + pads[i + 2] - dilations[i] * (kernel[i] - 1) - 1) / strides[i] + 1);
    return dims;
  }
  Dims source() const { return {batch, channels, picture[0], picture[1]}; }
  Dims weights() const { return {filters, channels / groups, kernel[0], kernel[1]}; }
  /// Offsets reach `far` pixels.
  std::vector<Datum> inputs(double far, bool bias, bool mask, DType type = DType::kF32) const {
    return {uniform(source(), -1, 1, type), uniform(weights(), -1, 1, type, 2), uniform(maps(2), -far, far, type, 3),
            bias ? Datum(uniform({filters}, -1, 1, type, 4)) : Datum(),
            mask ? Datum(uniform(maps(1), 0, 1, type, 5)) : Datum()};
  }
};

std::string words(const Case& c) {
  return to_string(c.source()) + " by " + to_string(c.weights()) + ", offsets " + to_string(c.maps(2));
}

}  // namespace

TEST_CASE("windows whose taps move, in groups of channels and of offsets, with and without mask and bias") {
  const Case cases[] = {
      {1, 3, 5, 1, 1, {7, 8}, {3, 3}},
      {1, 1, 1, 1, 1, {1, 1}, {1, 1}},
      {2, 6, 4, 2, 1, {9, 7}, {3, 3}, {2, 2}, {1, 0, 2, 1}},
      {2, 4, 6, 1, 2, {8, 9}, {3, 2}, {1, 2}, {0, 2, 1, 0}, {2, 2}},
      {1, 12, 6, 2, 3, {6, 6}, {2, 3}, {2, 1}, {1, 1, 1, 1}, {1, 2}},  // the groups' borders lie apart
      {2, 5, 7, 1, 5, {10, 11}, {1, 1}},
      {3, 8, 8, 8, 2, {5, 6}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
      {2, 70, 33, 1, 1, {13, 11}, {3, 3}, {1, 1}, {1, 1, 1, 1}},  // a block over both pictures
      {1, 8, 520, 1, 1, {6, 6}, {3, 3}},                          // packed rows in the product
      {1, 8, 1040, 2, 1, {6, 6}, {3, 3}},
  };
  for (const Case& c : cases)
    for (const bool bias : {false, true})
      for (const bool mask : {false, true}) {
        INFO(words(c) << (bias ? ", bias" : "") << (mask ? ", mask" : ""));
        require_as_reference("DeformConv", c.inputs(2.5, bias, mask), {.attrs = c.attrs()}, 2e-5);
      }
  require_as_reference("DeformConv", cases[2].inputs(2.5, true, true), {.attrs = cases[2].attrs(), .opset = 19}, 2e-5);
}

TEST_CASE("taps on the borders and far outside, and offsets that are no numbers") {
  const Case c{1, 4, 3, 1, 1, {5, 4}, {1, 1}};
  const auto inf = std::numeric_limits<double>::infinity();
  const double places[] = {0, -1, 1,   -0.5, 0.5,  -0.25, 1e-9, -1e-9, 3,   4,
                           5, -4, 1e6, -1e6, 3e38, -3e38, inf,  -inf,  NAN, 9.3e18};
  std::vector<double> offsets;
  for (const size_t step : {1, 7})
    for (size_t i = 0; i < 20; ++i) offsets.push_back(places[i * step % 20]);
  for (const bool mask : {false, true}) {
    std::vector<Datum> inputs = c.inputs(1, true, mask);
    inputs[2] = tensor(c.maps(2), offsets);
    require_as_reference("DeformConv", inputs, {.attrs = c.attrs()}, 1e-5);
    require_as_reference("DeformConv", c.inputs(1e3, true, mask), {.attrs = c.attrs()}, 1e-5);
  }
}

TEST_CASE("infinities of the picture reach the taps beside them, those of the mask also taps outside") {
  const Case c{1, 2, 2, 1, 1, {4, 4}, {1, 1}};
  std::vector<Datum> inputs = c.inputs(0, false, true);
  Tensor picture = inputs[0].tensor(), offsets = tensor(c.maps(2), std::vector<double>(32, 0)),
         mask = inputs[4].tensor();
  picture.mutable_data<float>()[5] = std::numeric_limits<float>::infinity();
  offsets.mutable_data<float>()[15] = 9;
  mask.mutable_data<float>()[15] = std::numeric_limits<float>::infinity();
  mask.mutable_data<float>()[12] = std::nanf("");
  require_as_reference("DeformConv", {picture, inputs[1], offsets, Datum(), mask}, {.attrs = c.attrs()}, 1e-5);
}

TEST_CASE("a deformed convolution gives the same bits on any number of threads") {
  const Case c{1, 32, 40, 1, 1, {15, 14}, {3, 3}, {1, 1}, {1, 1, 1, 1}};
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const auto run = [&](int threads) {
    Tensor y;
    with_threads(threads, [&] {
      y = run_op("DeformConv", c.inputs(2, true, true), {.attrs = c.attrs(), .fixed = false, .backend = cpu.get()});
    });
    return y;
  };
  const Tensor one = run(1);
  for (const int threads : {2, 3, 5}) require_close(run(threads), one, 0);
}

TEST_CASE("deformed convolutions of other types and of nothing are not for this kernel, nor what does not fit") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const Case c{1, 4, 3, 1, 2, {5, 6}, {3, 3}};
  const auto same = [&](const std::vector<Datum>& inputs) {
    const Tensor got = run_op("DeformConv", inputs, {.attrs = c.attrs(), .backend = cpu.get()});
    require_close(got, run_op("DeformConv", inputs, {.attrs = c.attrs()}), 1e-6);
  };
  same(c.inputs(2, true, true, DType::kF64));
  same(c.inputs(2, true, true, DType::kF16));
  Case none = c;
  none.batch = 0;
  same(none.inputs(2, true, true));
  const auto error = [&](size_t input, const Dims& dims) {
    std::vector<Datum> inputs = c.inputs(2, true, true);
    inputs[input] = uniform(dims, -1, 1);
    return error_of("DeformConv", inputs, {.attrs = c.attrs(), .backend = cpu.get()});
  };
  CHECK(error(0, {1, 4, 5}).find("two spatial axes") != std::string::npos);
  CHECK(error(0, {1, 6, 5, 6}).find("groups") != std::string::npos);
  CHECK(error(2, {1, 18, 3, 4}).find("offsets have the shape") != std::string::npos);
  CHECK(error(3, {4}).find("bias") != std::string::npos);
  CHECK(error(4, {1, 18, 3, 5}).find("mask") != std::string::npos);
}

}  // namespace mlopt::test
