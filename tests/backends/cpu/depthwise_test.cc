#include "backends/cpu/depthwise.h"

#include <limits>

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
constexpr double kTolerance = 4e-6;

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
    {{1, 20, 9, 14}, 1, {7, 7}, {1, 1}, {1, 1}, {3, 3}, {3, 3}, true, false, {}, 2},
    {{1, 33, 10, 19}, 1, {5, 7}, {1, 1}, {1, 1}, {2, 3}, {2, 0}, true, true, {Fn::kRelu}, 2},
    {{2, 17, 11, 33}, 1, {5, 5}, {2, 2}, {1, 1}, {2, 2}, {1, 2}, true, true, {Fn::kRelu}, 2},
    {{1, 18, 8, 9}, 3, {7, 7}, {1, 1}, {1, 1}, {3, 3}, {3, 3}, true},
    {{1, 32, 1, 700}, 1, {1, 9}, {1, 1}, {1, 2}, {0, 8}, {0, 8}, true, false, {Fn::kRelu}, 4},
};

ConvShape shape_of(const Case& c) {
  const Window window{c.kernel, c.strides, c.dilations, c.begin, c.end};
  Dims dst{c.src[0], c.src[1] * c.each};
  for (size_t i = 0; i < 2; ++i)
    dst.push_back((c.src[2 + i] + c.begin[i] + c.end[i] - window.extent(i)) / c.strides[i] + 1);
  return {c.src, {c.src[1], c.each, 1, c.kernel[0], c.kernel[1]}, dst, c.src[1], window};
}

std::vector<float> computed(const Case& c, const Convolution& o) {
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

}  // namespace

TEST_CASE("depthwise convolutions give their sums") {
  for (const Case& c : kCases) {
    const Convolution o(shape_of(c));
    const std::vector<float> wanted = o.results(c.bias, c.addend, c.activation);
    for (const int64_t target : test::targets()) {
      INFO("case " << &c - kCases << ", target " << target);
      const test::TargetScope scope(target);
      require_near(computed(c, o), wanted, kTolerance);
    }
  }
}

TEST_CASE("numbers that are not finite reach the results of their channel and window") {
  for (const Case& c : {kCases[1], kCases[3], kCases[5], kCases[9]})
    for (const float odd : {kNan, kInfinity, -kInfinity}) {
      INFO("case of " << c.src[1] << " channels, " << odd);
      Convolution o(shape_of(c));
      o.src[place(c.src, 0, 3, 2, 3)] = odd;
      o.src[place(c.src, 0, 16, 5, 0)] = odd;
      require_near(computed(c, o), o.results(c.bias, c.addend, c.activation), kTolerance);
    }
}

TEST_CASE("limits that are no numbers make every result of a clip NaN") {
  Case c = kCases[0];
  c.activation = {Fn::kClip, kNan, 1};
  const Convolution o(shape_of(c));
  require_near(computed(c, o), o.results(c.bias, c.addend, c.activation), kTolerance);
}

TEST_CASE("depthwise plans take one channel a group, and as many as fill a vector") {
  ConvShape shape = shape_of(kCases[0]);
  shape.groups = 8;
  REQUIRE(!DepthwisePlan::takes(shape));
  REQUIRE(!DepthwisePlan::takes(shape_of({{1, 0, 4, 4}, 1, {3, 3}})));
  REQUIRE(!DepthwisePlan::takes(shape_of({{0, 64, 4, 4}, 1, {3, 3}})));
}

}  // namespace mlopt::cpu
