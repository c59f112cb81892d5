#include "quantize/uniform/params.h"

#include <cmath>
#include <limits>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

using namespace mlopt;
using quantize::Grid;

namespace {

double value_of(const Grid& grid, double code) { return (code - grid.zero_point) * static_cast<double>(grid.scale); }

/// The nearest value of the grid, computed in double.
double rounded(const Grid& grid, double x) {
  const double code = std::nearbyint(x / static_cast<double>(grid.scale)) + grid.zero_point;
  return value_of(grid, std::min<double>(std::max<double>(code, grid.low), grid.high));
}

}  // namespace

TEST_CASE("an activation's grid holds its range, and zero exactly") {
  for (const Range& range : {Range{-1, 3}, Range{0, 6}, Range{2, 5}, Range{-7, -3}, Range{-1e-3, 1e3}}) {
    for (const bool symmetric : {false, true}) {
      const Grid grid = quantize::activation_grid(range, symmetric);
      INFO(range.min << " to " << range.max << (symmetric ? ", symmetric" : ""));
      CHECK(grid.type == (symmetric ? DType::kI8 : DType::kU8));
      CHECK(rounded(grid, 0) == 0);
      const double half_step = 0.5001 * static_cast<double>(grid.scale);
      CHECK(std::fabs(rounded(grid, range.min) - range.min) <= half_step);
      CHECK(std::fabs(rounded(grid, range.max) - range.max) <= half_step);
      const double width = symmetric ? 2 * std::max(-std::min(range.min, 0.0), range.max)
                                     : std::max(range.max, 0.0) - std::min(range.min, 0.0);
      CHECK(static_cast<double>(grid.scale) == Approx(width / (symmetric ? 254 : 255)));
    }
  }
}

TEST_CASE("an activation's scale is a normal number whatever was observed") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const Range& range : {Range{0, 0}, Range{0, 1e-44}, Range{-inf, inf}, Range{0, 1e300}}) {
    const Grid grid = quantize::activation_grid(range, false);
    CHECK(std::isnormal(grid.scale));
    CHECK(grid.zero_point >= 0);
    CHECK(grid.zero_point <= 255);
  }
}

TEST_CASE("weights are rounded to the nearest of 255 codes, by channel") {
  const Tensor w = test::uniform({3, 4, 2}, -2, 2);
  for (const int axis : {-1, 0, 1, 2}) {
    const auto q = quantize::quantize_weight(w, axis);
    const int64_t channels = axis < 0 ? 1 : w.dim(axis);
    REQUIRE(q.scale.size() == channels);
    CHECK(q.scale.rank() == (axis < 0 ? 0 : 1));
    CHECK(q.zero_point.dims() == q.scale.dims());
    int largest = 0;
    for (int64_t i = 0; i < w.size(); ++i) {
      const int64_t index[] = {i / 8, i / 2 % 4, i % 2};
      const int64_t c = axis < 0 ? 0 : index[axis];
      const auto scale = static_cast<double>(q.scale.data<float>()[c]);
      const int code = q.codes.data<int8_t>()[i];
      CHECK(std::fabs(code * scale - static_cast<double>(w.data<float>()[i])) <= 0.5001 * scale);
      largest = std::max(largest, std::abs(code));
    }
    CHECK(largest == 127);
  }
}

TEST_CASE("four bits have 15 codes for weights, in steps that err least") {
  const Tensor w = test::uniform({4, 200}, -1, 1);
  // One outlier is not worth the precision of the others.
  std::vector<double> values = to_doubles(w);
  values[0] = 2;
  const Tensor with_outlier = test::tensor({4, 200}, values);
  const auto q = quantize::quantize_weight(with_outlier, 0, {}, 4);
  CHECK(q.codes.dtype() == DType::kI4);
  CHECK(q.zero_point.dtype() == DType::kI4);
  const auto error = [&](const quantize::QuantizedWeight& quantized) {
    double sum = 0;
    for (int64_t i = 0; i < 200; ++i) {
      const double back = number_at(quantized.codes, i) * static_cast<double>(quantized.scale.data<float>()[0]);
      CHECK(std::fabs(number_at(quantized.codes, i)) <= 7);
      sum += (back - values[static_cast<size_t>(i)]) * (back - values[static_cast<size_t>(i)]);
    }
    return sum;
  };
  const auto whole = quantize::quantize_by({2.0f / 7, 1.0f / 7, 1.0f / 7, 1.0f / 7}, with_outlier, 0, 4);
  CHECK(error(q) < 0.75 * error(whole));
}

TEST_CASE("four bits have 16 codes of a byte for activations") {
  const Grid grid = quantize::activation_grid({-1, 2}, false, 4);
  CHECK(grid.type == DType::kU8);
  CHECK(grid.high == 15);
  CHECK(static_cast<double>(grid.scale) == Approx(0.2));
  CHECK(grid.zero_point == 5);
  const Grid symmetric = quantize::activation_grid({-1, 2}, true, 4);
  CHECK(symmetric.type == DType::kI8);
  CHECK(symmetric.low == -8);
  CHECK(static_cast<double>(symmetric.scale) == Approx(2.0 / 7));
}

TEST_CASE("other widths are held in the next type, whose codes they do not all use") {
  const Tensor w = test::uniform({4, 500}, -1, 1);
  double before = 1e9;
  for (const int bits : {2, 3, 5, 6, 7, 8, 16}) {
    const auto q = quantize::quantize_weight(w, 0, {}, bits);
    CHECK(q.codes.dtype() == (bits < 4 ? DType::kI4 : bits > 8 ? DType::kI16 : DType::kI8));
    CHECK(q.zero_point.dtype() == q.codes.dtype());
    double largest = 0, error = 0;
    for (int64_t i = 0; i < w.size(); ++i) {
      const double code = number_at(q.codes, i), off = code * static_cast<double>(q.scale.data<float>()[i / 500]) -
                                                       static_cast<double>(w.data<float>()[i]);
      largest = std::max(largest, std::fabs(code));
      error += off * off;
    }
    INFO(bits);
    CHECK(largest == (1 << (bits - 1)) - 1);
    CHECK(error < before / 2);
    before = error;
    const Grid grid = quantize::activation_grid({-1, 3}, false, bits);
    CHECK(grid.type == (bits > 8 ? DType::kU16 : DType::kU8));
    CHECK(grid.high == (1 << bits) - 1);
    CHECK(static_cast<double>(grid.scale) == Approx(4.0 / grid.high));
    CHECK(quantize::activation_grid({-1, 3}, true, bits).low == -(1 << (bits - 1)));
  }
}

TEST_CASE("one bit is a sign, in steps of the mean magnitude") {
  const auto q = quantize::quantize_weight(test::tensor({2, 2}, {0.5, -1.5, 0, 4}), 0, {}, 1);
  CHECK(to_ints(q.codes) == std::vector<int64_t>{1, -1, 1, 1});
  CHECK(to_floats(q.scale) == std::vector<float>{1, 2});
  const auto zeros = quantize::quantize_weight(test::tensor({2, 2}, {0, 0, 1, -3}), 0, {}, 1);
  CHECK(to_floats(zeros.scale) == std::vector<float>{std::numeric_limits<float>::min(), 2});
}

TEST_CASE("steps of few bits are those of the least squared error however far they are from the largest weight") {
  std::vector<double> values = to_doubles(test::uniform({1, 1000}, -1, 1));
  values[7] = 8;
  const Tensor w = test::tensor({1, 1000}, values);
  for (const int bits : {2, 3, 4, 5, 7}) {
    const double most = quantize::most_code(bits);
    const auto error = [&](double scale) {
      double sum = 0;
      for (const double x : values) {
        const double off = std::max(-most, std::min(most, std::nearbyint(x / scale))) * scale - x;
        sum += off * off;
      }
      return sum;
    };
    double least = error(8 / most);
    for (double share = 0.05; share < 1; share += 0.01) least = std::min(least, error(share * 8 / most));
    INFO(bits);
    CHECK(error(static_cast<double>(quantize::weight_scales(w, 0, {}, bits)[0])) < 1.03 * least);
  }
}

TEST_CASE("a scale is never below what is asked for, and codes follow it") {
  const Tensor w = test::tensor({2, 2}, {1.27, -1.27, 2.54, 0});
  const auto q = quantize::quantize_weight(w, 0, {0.1f, 0.001f});
  CHECK(q.scale.data<float>()[0] == 0.1f);
  CHECK(q.scale.data<float>()[1] == Approx(0.02));
  CHECK(q.codes.data<int8_t>()[0] == 13);
  CHECK(q.codes.data<int8_t>()[2] == 127);
  CHECK(quantize::quantize_weight(w, -1, {0.1f, 0.3f}).scale.data<float>()[0] == 0.3f);
}

TEST_CASE("with room for pairs no two neighbours of a sum leave int16") {
  // Matrices by column and by row, and a convolution, whose sums run over places and then input channels.
  for (const auto& [w, axis] : {std::pair{test::uniform({64, 5}, 0, 1), 1}, std::pair{test::uniform({5, 64}, -1, 0), 0},
                                std::pair{test::uniform({5, 6, 3, 3}, 0, 1), 0}}) {
    const auto q = quantize::quantize_weight(w, axis, quantize::pair_room(w, axis));
    const int64_t channels = w.dim(axis), length = w.size() / channels;
    int worst = 0;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t k = 0; k + 1 < length; k += 2) {
        const auto at = [&, &w = w, axis = axis](int64_t i) -> int {
          const int64_t place = w.rank() == 4 ? c * length + i % 6 * 9 + i / 6
                                : axis == 1   ? i * channels + c
                                              : c * length + i;
          return q.codes.data<int8_t>()[place];
        };
        worst = std::max(worst, std::abs(at(k) + at(k + 1)));
      }
    CHECK(worst * 255 <= 32767);
    CHECK(worst > 120);  // no more room than needed
  }
}

TEST_CASE("neighbours of opposite signs need no room") {
  const Tensor w = test::tensor({1, 4}, {1, -1, -0.5, 0.5});
  CHECK(quantize::pair_room(w, 0) == std::vector<float>{0});
}

TEST_CASE("a bias counts in steps of input scale times weight scale") {
  const auto q = quantize::quantize_bias(test::tensor({2}, {0.5, -3}), 0.1f, test::tensor({2}, {0.02, 0.5}));
  CHECK(q.codes.data<int32_t>()[0] == 250);
  CHECK(q.codes.data<int32_t>()[1] == -60);
  CHECK(q.scale.data<float>()[0] == Approx(0.002));
  const auto one = quantize::quantize_bias(test::tensor({2}, {0.5, -3}), 0.1f, test::tensor({}, {0.5}));
  CHECK(one.scale.rank() == 0);
  CHECK(one.codes.data<int32_t>()[0] == 10);
}

TEST_CASE("a large bias makes the weight's scale wide enough for int32") {
  const Tensor w = test::tensor({1, 2}, {1e-6, -1e-6}), bias = test::tensor({1}, {1000});
  const float input_scale = 1e-3f;
  const auto wide = quantize::quantize_weight(w, 0, quantize::bias_room(bias, input_scale));
  const auto q = quantize::quantize_bias(bias, input_scale, wide.scale);
  const double back = q.codes.data<int32_t>()[0] * static_cast<double>(q.scale.data<float>()[0]);
  CHECK(back == Approx(1000));
  const auto narrow = quantize::quantize_bias(bias, input_scale, quantize::quantize_weight(w, 0).scale);
  CHECK(narrow.codes.data<int32_t>()[0] == std::numeric_limits<int32_t>::max());  // what would happen otherwise
}
