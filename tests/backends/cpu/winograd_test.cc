#include "backends/cpu/winograd.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <thread>

#include "backends/cpu/dnn.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/targets.h"

namespace mlopt::cpu {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

struct Case {
  Dims src;  ///< [N, C, H, W]
  int64_t channels_out;
  Dims begin = {1, 1}, end = {1, 1};
  bool bias = false, addend = false;
  Activation activation = {};
  int threads = 1;
};

// Odd sizes, images of less than a tile, channels that fill no vector, paddings that differ, several images.
const Case kCases[] = {
    {{1, 16, 12, 12}, 16},
    {{1, 17, 9, 7}, 19, {0, 2}, {1, 0}, true},
    {{2, 32, 5, 11}, 40, {1, 1}, {1, 1}, true, true, {Fn::kRelu}, 2},
    {{1, 64, 3, 3}, 33, {1, 1}, {1, 1}, true, false, {Fn::kClip, -1, 2}, 3},
    {{1, 24, 1, 1}, 200, {1, 1}, {1, 1}, false, true, {Fn::kSigmoid}, 4},
    {{3, 20, 30, 29}, 48, {0, 0}, {0, 0}, true, false, {Fn::kRelu}, 2},
    {{1, 300, 10, 10}, 64, {2, 2}, {2, 2}, true, true, {Fn::kHardSwish, 1.0f / 6, 0.5f}, 2},
    {{1, 16, 40, 50}, 16, {1, 1}, {1, 1}, true, false, {Fn::kRelu}, 5},
};

ConvShape shape_of(const Case& c) {
  const Dims dst{c.src[0], c.channels_out, c.src[2] + c.begin[0] + c.end[0] - 2, c.src[3] + c.begin[1] + c.end[1] - 2};
  return {c.src, {c.channels_out, c.src[1], 3, 3}, dst, 1, {{3, 3}, {1, 1}, {1, 1}, c.begin, c.end}};
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
        bias(numbers({c.channels_out}, 3)),
        addend(numbers(shape.dst, 4)) {}
  ConvShape shape;
  std::vector<float> src, weights, bias, addend;
};

/// One result before the activation, in double.
double sum_at(const Case& c, const Operands& o, int64_t n, int64_t k, int64_t y, int64_t x) {
  double sum = c.bias ? o.bias[static_cast<size_t>(k)] : 0;
  if (c.addend) sum += o.addend[place(o.shape.dst, n, k, y, x)];
  for (int64_t i = 0; i < 9; ++i) {
    const int64_t row = y + i / 3 - c.begin[0], column = x + i % 3 - c.begin[1];
    if (row < 0 || row >= c.src[2] || column < 0 || column >= c.src[3]) continue;
    for (int64_t ch = 0; ch < c.src[1]; ++ch)
      sum += static_cast<double>(o.weights[static_cast<size_t>((k * c.src[1] + ch) * 9 + i)]) *
             o.src[place(c.src, n, ch, row, column)];
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

std::vector<float> computed(const Case& c, const Operands& o, int m) {
  const auto weights = std::make_shared<WinogradWeights>(o.weights.data(), c.channels_out, c.src[1], m);
  REQUIRE(weights->is_finite());
  const WinogradPlan plan(o.shape, weights, c.threads);
  std::vector<float> dst = c.addend ? o.addend : std::vector<float>(o.addend.size(), 12345);
  Tensor space(DType::kU8, {static_cast<int64_t>(plan.workspace_bytes())});
  plan.run({.src = o.src.data(),
            .dst = dst.data(),
            .bias = c.bias ? o.bias.data() : nullptr,
            .addend = c.addend ? dst.data() : nullptr,
            .activation = c.activation},
           space.mutable_raw());
  return dst;
}

/// The error grows with the sums, whose parts are random. Tiles of 4 x 4 lose another bit to their coefficients.
void require_same(const std::vector<float>& actual, const std::vector<float>& wanted, const Case& c, int m) {
  const double tolerance = (m == 2 ? 4e-6 : 8e-6) * std::sqrt(static_cast<double>(c.src[1]));
  REQUIRE(actual.size() == wanted.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const double a = actual[i], w = wanted[i];
    const bool same =
        std::isfinite(w) ? std::abs(a - w) <= tolerance * (1 + std::abs(w)) : (std::isnan(w) ? std::isnan(a) : a == w);
    if (!same) FAIL(fmt::format("element {} is {}, not {}", i, a, w));
  }
}

}  // namespace

TEST_CASE("tiles of a convolution give its sums") {
  for (const Case& c : kCases) {
    const Operands o(c);
    const std::vector<float> wanted = expected(c, o);
    for (const int64_t target : test::targets())
      for (const int m : {2, 4}) {
        INFO("case " << &c - kCases << ", tiles of " << m << ", target " << target);
        const test::TargetScope scope(target);
        require_same(computed(c, o, m), wanted, c, m);
      }
  }
}

TEST_CASE("numbers that are not finite reach what a direct convolution lets them reach") {
  for (const Case& base : {kCases[2], kCases[5]})
    for (const int m : {2, 4})
      for (const float odd : {kNan, kInfinity, -kInfinity}) {
        INFO("tiles of " << m << ", " << odd);
        Operands o(base);
        o.src[place(base.src, 0, 3, 2, 5)] = odd;
        o.src[place(base.src, 1, 4, 4, 0)] = odd;
        require_same(computed(base, o, m), expected(base, o), base, m);
      }
}

TEST_CASE("runs of one plan may overlap") {
  const Case c = kCases[5];
  const Operands o(c);
  const std::vector<float> once = computed(c, o, 4);
  std::vector<std::vector<float>> made(3);
  std::vector<std::thread> threads;
  for (std::vector<float>& out : made) threads.emplace_back([&] { out = computed(c, o, 4); });
  for (std::thread& t : threads) t.join();
  for (const std::vector<float>& out : made) REQUIRE(out == once);
}

}  // namespace mlopt::cpu
