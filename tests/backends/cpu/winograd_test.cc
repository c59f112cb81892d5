#include "backends/cpu/winograd.h"

#include <cmath>
#include <limits>
#include <thread>

#include "backends/cpu/dnn.h"
#include "tests/support/catch.h"
#include "tests/support/convolution.h"
#include "tests/support/op.h"
#include "tests/support/targets.h"

namespace mlopt::cpu {
namespace {

using test::Convolution;
using test::place;
using test::require_near;

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

WinogradPlan plan_of(const Case& c, const Convolution& o, int m) {
  const auto weights = std::make_shared<WinogradWeights>(o.weights.data(), c.channels_out, c.src[1], m);
  REQUIRE(weights->is_finite());
  return {o.shape, weights, c.threads};
}

std::vector<float> run(const WinogradPlan& plan, const Case& c, const Convolution& o) {
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

std::vector<float> computed(const Case& c, const Convolution& o, int m) { return run(plan_of(c, o, m), c, o); }

/// The error grows with the sums, whose parts are random. Tiles of 4 x 4 lose another bit to their coefficients.
double tolerance(const Case& c, int m) { return (m == 2 ? 4e-6 : 8e-6) * std::sqrt(static_cast<double>(c.src[1])); }

}  // namespace

TEST_CASE("tiles of a convolution give its sums") {
  for (const Case& c : kCases) {
    const Convolution o(shape_of(c));
    const std::vector<float> wanted = o.results(c.bias, c.addend, c.activation);
    for (const int64_t target : test::targets())
      for (const int m : {2, 4}) {
        INFO("case " << &c - kCases << ", tiles of " << m << ", target " << target);
        const test::TargetScope scope(target);
        require_near(computed(c, o, m), wanted, tolerance(c, m));
      }
  }
}

TEST_CASE("numbers that are not finite reach what a direct convolution lets them reach") {
  for (const Case& base : {kCases[2], kCases[5]})
    for (const int m : {2, 4})
      for (const float odd : {kNan, kInfinity, -kInfinity}) {
        INFO("tiles of " << m << ", " << odd);
        Convolution o(shape_of(base));
        o.src[place(base.src, 0, 3, 2, 5)] = odd;
        o.src[place(base.src, 1, 4, 4, 0)] = odd;
        require_near(computed(base, o, m), o.results(base.bias, base.addend, base.activation), tolerance(base, m));
      }
}

TEST_CASE("runs of one plan may overlap") {
  const Case c = kCases[5];
  const Convolution o(shape_of(c));
  const WinogradPlan plan = plan_of(c, o, 4);
  const std::vector<float> once = run(plan, c, o);
  std::vector<std::vector<float>> made(3);
  std::vector<std::thread> threads;
  for (std::vector<float>& out : made) threads.emplace_back([&] { out = run(plan, c, o); });
  for (std::thread& t : threads) t.join();
  for (const std::vector<float>& out : made) REQUIRE(out == once);
}

}  // namespace mlopt::cpu
