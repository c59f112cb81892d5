#include "tests/support/catch.h"
#include "tests/support/conv_cases.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

// Odd sizes, axes of 1, groups, dilations, strides and paddings that differ between the sides, one to three axes.
const ConvCase kCases[] = {
    {{1, 3, 9, 7}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{2, 16, 11, 5}, {9, 16, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {{1, 8, 12, 13}, {24, 8, 1, 1}, {2, 3}, {1, 1}, {0, 0, 0, 0}},
    {{2, 16, 15, 14}, {9, 16, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {{1, 8, 29, 43}, {24, 8, 1, 1}, {2, 3}, {1, 1}, {0, 0, 0, 0}},
    {{2, 6, 10, 9}, {6, 1, 3, 3}, {2, 2}, {1, 1}, {0, 1, 1, 0}, 6},
    {{1, 6, 10, 9}, {12, 1, 5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, 6},
    {{1, 12, 8, 8}, {8, 3, 3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}, 4},
    {{1, 3, 30, 31}, {7, 3, 7, 7}, {2, 2}, {1, 1}, {3, 2, 1, 3}},
    {{1, 1, 1, 40}, {2, 1, 1, 5}, {1, 2}, {1, 3}, {0, 4, 0, 0}},
    {{3, 4, 17}, {6, 2, 3}, {2}, {1}, {1, 0}, 2},
    {{1, 2, 5, 6, 7}, {4, 2, 3, 1, 2}, {1, 2, 1}, {1, 1, 2}, {1, 0, 1, 1, 0, 0}},
    {{1, 64, 6, 6}, {33, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{2, 8, 21, 1}, {6, 4, 5, 1}, {2, 1}, {1, 1}, {3, 0, 1, 0}, 2},
};

// Sums of up to 600 products of numbers below 1, in another order than the reference's.
constexpr double kTolerance = 3e-5;

}  // namespace

TEST_CASE("Conv gives what the reference gives") {
  for (const ConvCase& c : kCases) {
    INFO(to_string(c.x) << " with " << to_string(c.w));
    const Tensor x = uniform(c.x, -1, 1, DType::kF32, 1), w = uniform(c.w, -1, 1, DType::kF32, 2);
    const Tensor bias = uniform({c.w[0]}, -1, 1, DType::kF32, 3);
    require_as_reference("Conv", {x, w}, {.attrs = c.attrs()}, kTolerance);
    require_as_reference("Conv", {x, w, bias}, {.attrs = c.attrs()}, kTolerance);
  }
}

TEST_CASE("Conv resolves automatic padding") {
  const Tensor x = uniform({1, 3, 10, 7}, -1, 1), w = uniform({4, 3, 3, 2}, -1, 1, DType::kF32, 2);
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    INFO(mode);
    require_as_reference("Conv", {x, w}, {.attrs = {{"auto_pad", std::string(mode), ""}, {"strides", Ints{2, 3}, ""}}},
                         kTolerance);
  }
}

TEST_CASE("one column and several are convolved with the same weights") {
  Net net;
  Value* weights = net.constant(uniform({8, 3, 5, 1}, -1, 1));  // in groups, which no tiles of ours take
  Value* several = net.input({1, 6, 12, 4});
  Value* one = net.op("Reshape", {several, net.constant(Tensor::ints({4, 6, 12, 1}))});
  for (Value* x : {several, one}) net.output(net.op("Conv", {x, weights}, {{"group", int64_t{2}, ""}}));
  require_same_result(net.model, kTolerance, true);
}

TEST_CASE("FusedConv adds and activates after the bias") {
  const ConvCase& c = kCases[0];
  const Tensor x = uniform(c.x, -1, 1), w = uniform(c.w, -1, 1, DType::kF32, 2);
  const Tensor bias = uniform({5}, -1, 1, DType::kF32, 3), addend = uniform({1, 5, 9, 7}, -1, 1, DType::kF32, 4);
  std::vector<Attr> attrs = c.attrs();
  attrs.push_back({"activation", std::string("LeakyRelu"), ""});
  attrs.push_back({"activation_params", std::vector<float>{0.3f}, ""});
  require_as_reference("FusedConv", {x, w, bias, addend}, {.attrs = attrs, .domain = "com.microsoft"}, kTolerance);
  require_as_reference("FusedConv", {x, w, bias}, {.attrs = attrs, .domain = "com.microsoft"}, kTolerance);
}

TEST_CASE("Conv keeps NaN through a fused activation") {
  Tensor x = uniform({1, 3, 6, 6}, -1, 1);
  x.mutable_data<float>()[20] = std::numeric_limits<float>::quiet_NaN();
  const Tensor w = uniform({4, 3, 3, 3}, -1, 1, DType::kF32, 2);
  require_as_reference("FusedConv", {x, w},
                       {.attrs = {{"activation", std::string("Relu"), ""}}, .domain = "com.microsoft"}, kTolerance);
}

TEST_CASE("a window that does not fit is an error, not an empty output") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const std::string error =
      error_of("Conv", {uniform({1, 1, 4}, -1, 1), uniform({1, 1, 5}, -1, 1)}, {.backend = cpu.get()});
  CHECK(error.find("does not fit") != std::string::npos);
}

TEST_CASE("what Conv cannot take goes to the next kernel") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const Tensor w = uniform({4, 3, 3, 3}, -1, 1, DType::kF32, 2);
  const Tensor empty = uniform({0, 3, 6, 6}, -1, 1);
  REQUIRE(run_op("Conv", {empty, w}, {.backend = cpu.get()}).dims() == Dims{0, 4, 4, 4});
  const Tensor wide = uniform({1, 3, 6, 6}, -1, 1, DType::kF64);
  REQUIRE(run_op("Conv", {wide, uniform({4, 3, 3, 3}, -1, 1, DType::kF64)}, {.backend = cpu.get()}).dtype() ==
          DType::kF64);
  REQUIRE(error_of("Conv", {uniform({1, 2, 6, 6}, -1, 1), w}, {.backend = cpu.get()}).find("Conv") !=
          std::string::npos);
}

}  // namespace mlopt::test
