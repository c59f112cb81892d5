#include "backends/cpu/depthwise.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/targets.h"

namespace mlopt::cpu {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

struct Case {
  Dims src;  ///< [N, C, H, W]
  int64_t each;
  Dims kernel, strides = {1, 1}, dilations = {1, 1}, begin = {1, 1}, end = {1, 1};
  bool bias = false, addend = false;
  Activation activation = {};
  int threads = 1;
};

// Odd sizes, windows wider than the image or all in the padding, channels that fill no vector, several of one source.
const Case kCases[] = {
    {{1, 16, 12, 12}, 1, {3, 3}},
    {{2, 19, 9, 25}, 1, {3, 3}, {1, 1}, {1, 1}, {0, 2}, {1, 0}, true, true, {Fn::kRelu}, 2},
    {{1, 300, 7, 7}, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, true, false, {Fn::kClip, -1, 2}, 3},
    {{1, 17, 30, 29}, 1, {3, 3}, {2, 2}, {2, 1}, {2, 3}, {3, 2}, true, true, {Fn::kHardSwish, 1.0f / 6, 0.5f}, 2},
    {{1, 24, 11, 21}, 1, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}, true, false, {Fn::kRelu}, 4},
    {{1, 40, 6, 5}, 1, {7, 4}, {3, 1}, {1, 2}, {4, 3}, {4, 3}, false, true, {Fn::kSigmoid}, 2},
    {{1, 16, 2, 3}, 1, {3, 3}, {1, 1}, {1, 1}, {5, 5}, {6, 4}, true},
    {{1, 33, 1, 1}, 1, {3, 3}, {1, 1}, {3, 3}, {3, 3}, {3, 3}, true, false, {Fn::kRelu}},
    {{1, 18, 13, 14}, 4, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, true, true, {Fn::kRelu}, 2},
    {{2, 17, 13, 14}, 3, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, true, false, {}, 2},
    {{1, 64, 8, 9}, 2, {2, 5}, {1, 2}, {1, 1}, {0, 2}, {1, 2}, false, false, {Fn::kTanh}, 3},
    {{1, 32, 1, 700}, 1, {1, 9}, {1, 1}, {1, 2}, {0, 8}, {0, 8}, true, false, {Fn::kRelu}, 4},
};

ConvShape shape_of(const Case& c) {
  const Window window{c.kernel, c.strides, c.dilations, c.begin, c.end};
  Dims dst{c.src[0], c.src[1] * c.each};
  for (size_t i = 0; i < 2; ++i)
    dst.push_back((c.src[2 + i] + c.begin[i] + c.end[i] - window.extent(i)) / c.strides[i] + 1);
  return {c.src, {c.src[1], c.each, 1, c.kernel[0], c.kernel[1]}, dst, c.src[1], window};
}

std::vector<float> numbers(const Dims& dims, uint64_t seed) {
  const Tensor t = test::uniform(dims, -1, 1, DType::kF32, seed);
  return {t.data<float>(), t.data<float>() + t.size()};
}

/// Element (n, c, y, x) of an image that lies channels-last.
size_t place(const Dims& d, int64_t n, int64_t c, int64_t y, int64_t x) {
  return static_cast<size_t>(((n * d[2] + y) * d[3] + x) * d[1] + c);
}

struct Operands {
  explicit Operands(const Case& c)
      : shape(shape_of(c)),
        src(numbers(shape.src, 1)),
        weights(numbers(shape.weights, 2)),
        bias(numbers({shape.dst[1]}, 3)),
        addend(numbers(shape.dst, 4)) {}
  ConvShape shape;
  std::vector<float> src, weights, bias, addend;
};

/// One result before the activation, in double.
double sum_at(const Case& c, const Operands& o, int64_t n, int64_t k, int64_t y, int64_t x) {
  double sum = c.bias ? o.bias[static_cast<size_t>(k)] : 0;
  if (c.addend) sum += o.addend[place(o.shape.dst, n, k, y, x)];
  for (int64_t i = 0; i < c.kernel[0] * c.kernel[1]; ++i) {
    const int64_t row = y * c.strides[0] - c.begin[0] + i / c.kernel[1] * c.dilations[0];
    const int64_t column = x * c.strides[1] - c.begin[1] + i % c.kernel[1] * c.dilations[1];
    if (row < 0 || row >= c.src[2] || column < 0 || column >= c.src[3]) continue;
    sum += static_cast<double>(o.weights[static_cast<size_t>(k * c.kernel[0] * c.kernel[1] + i)]) *
           o.src[place(c.src, n, k / c.each, row, column)];
  }
  return sum;
}

std::vector<float> expected(const Case& c, const Operands& o) {
  std::vector<float> out(o.addend.size());
  const Dims& d = o.shape.dst;
  for (int64_t n = 0; n < d[0]; ++n)
    for (int64_t k = 0; k < d[1]; ++k)
      for (int64_t y = 0; y < d[2]; ++y)
        for (int64_t x = 0; x < d[3]; ++x) out[place(d, n, k, y, x)] = static_cast<float>(sum_at(c, o, n, k, y, x));
  apply_here(c.activation, out.data(), out.data(), static_cast<int64_t>(out.size()));
  return out;
}

std::vector<float> computed(const Case& c, const Operands& o) {
  REQUIRE(DepthwisePlan::takes(o.shape));
  const auto weights = std::make_shared<std::vector<float>>(DepthwisePlan::packed(o.weights.data(), o.shape));
  const DepthwisePlan plan(o.shape, weights, c.threads);
  std::vector<float> dst = c.addend && plan.in_place() ? o.addend : std::vector<float>(o.addend.size(), 12345);
  plan.run({.src = o.src.data(),
            .dst = dst.data(),
            .bias = c.bias ? o.bias.data() : nullptr,
            .addend = !c.addend         ? nullptr
                      : plan.in_place() ? dst.data()
                                        : o.addend.data(),
            .activation = c.activation});
  return dst;
}

void require_same(const std::vector<float>& actual, const std::vector<float>& wanted) {
  REQUIRE(actual.size() == wanted.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const double a = actual[i], w = wanted[i];
    const bool same =
        std::isfinite(w) ? std::abs(a - w) <= 4e-6 * (1 + std::abs(w)) : (std::isnan(w) ? std::isnan(a) : a == w);
    if (!same) FAIL(fmt::format("element {} is {}, not {}", i, a, w));
  }
}

}  // namespace

TEST_CASE("depthwise convolutions give their sums") {
  for (const Case& c : kCases) {
    const Operands o(c);
    const std::vector<float> wanted = expected(c, o);
    for (const int64_t target : test::targets()) {
      INFO("case " << &c - kCases << ", target " << target);
      const test::TargetScope scope(target);
      require_same(computed(c, o), wanted);
    }
  }
}

TEST_CASE("numbers that are not finite reach the results of their channel and window") {
  for (const Case& c : {kCases[1], kCases[3], kCases[5], kCases[9]})
    for (const float odd : {kNan, kInfinity, -kInfinity}) {
      INFO("case of " << c.src[1] << " channels, " << odd);
      Operands o(c);
      o.src[place(c.src, 0, 3, 2, 3)] = odd;
      o.src[place(c.src, 0, 16, 5, 0)] = odd;
      require_same(computed(c, o), expected(c, o));
    }
}

TEST_CASE("limits that are no numbers make every result of a clip NaN") {
  Case c = kCases[0];
  c.activation = {Fn::kClip, kNan, 1};
  const Operands o(c);
  require_same(computed(c, o), expected(c, o));
}

TEST_CASE("depthwise plans take one channel a group, and as many as fill a vector") {
  ConvShape shape = shape_of(kCases[0]);
  shape.groups = 8;
  REQUIRE(!DepthwisePlan::takes(shape));
  REQUIRE(!DepthwisePlan::takes(shape_of({{1, 0, 4, 4}, 1, {3, 3}})));
  REQUIRE(!DepthwisePlan::takes(shape_of({{0, 64, 4, 4}, 1, {3, 3}})));
}

}  // namespace mlopt::cpu
