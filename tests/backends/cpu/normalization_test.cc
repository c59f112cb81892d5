#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

constexpr double kTolerance = 1e-5;

const Dims kShapes[] = {{1, 6}, {2, 6, 5}, {2, 6, 7, 3}, {1, 6, 40, 41}, {3, 6, 2, 1, 5}, {1, 6, 1, 1}};

Tensor by_channel(double low, double high, uint64_t seed, int64_t count = 6) {
  return uniform({count}, low, high, DType::kF32, seed);
}

}  // namespace

TEST_CASE("BatchNormalization by stored statistics") {
  for (const Dims& dims : kShapes)
    for (const int64_t opset : {7, 9, 14, 15}) {
      INFO(to_string(dims) << " opset " << opset);
      require_as_reference("BatchNormalization",
                           {uniform(dims, -3, 3), by_channel(-1, 1, 2), by_channel(-1, 1, 3), by_channel(-1, 1, 4),
                            by_channel(0.1, 2, 5)},
                           {.attrs = {{"epsilon", 1e-3f, ""}}, .opset = opset}, kTolerance);
    }
}

TEST_CASE("InstanceNormalization and GroupNormalization by their own") {
  for (const Dims& dims : kShapes) {
    if (dims.size() < 3) continue;
    INFO(to_string(dims));
    const Tensor x = uniform(dims, -3, 5);
    require_as_reference("InstanceNormalization", {x, by_channel(-1, 1, 2), by_channel(-1, 1, 3)}, {}, kTolerance);
    for (const int64_t groups : {1, 2, 3, 6}) {
      const std::vector<Attr> attrs{{"num_groups", groups, ""}};
      require_as_reference("GroupNormalization", {x, by_channel(-1, 1, 2), by_channel(-1, 1, 3)}, {.attrs = attrs},
                           kTolerance);
      require_as_reference("GroupNormalization", {x, by_channel(-1, 1, 2, groups), by_channel(-1, 1, 3, groups)},
                           {.attrs = attrs, .opset = 18}, kTolerance);
    }
  }
}

TEST_CASE("channels-last, a position's channels fill less than a vector, or more than one") {
  for (const int64_t channels : {1, 3, 4, 20, 63, 64, 70}) {
    INFO(channels << " channels");
    Net net;
    const auto numbers = [&](double low, double high) { return net.constant(uniform({channels}, low, high)); };
    const auto convolved = [&](Value* x) {
      return net.op("Conv", {x, net.constant(uniform({channels, channels, 3, 3}, -1, 1))},
                    {{"pads", std::vector<int64_t>{1, 1, 1, 1}, ""}});
    };
    Value* x = convolved(net.input({2, channels, 9, 17}));
    x = net.op("InstanceNormalization", {x, numbers(0.5, 1), numbers(-1, 1)});
    x = net.op("BatchNormalization",
               {net.op("Sin", {x}), numbers(0.5, 1), numbers(-1, 1), numbers(-1, 1), numbers(1, 2)});
    x = net.op("GroupNormalization", {net.op("Sin", {x}), numbers(0.5, 1), numbers(-1, 1)},
               {{"num_groups", int64_t{channels % 2 == 0 ? 2 : 1}, ""}});
    net.output(convolved(x));
    require_same_result(net.model, 1e-4, true);
  }
}

TEST_CASE("planes far from zero keep their deviations, and NaN stays in its own") {
  Tensor x = uniform({2, 3, 8, 9}, 1000, 1001);
  x.mutable_data<float>()[80] = std::nanf("");
  const Tensor ones = tensor({3}, {1, 1, 1}), zeros = tensor({3}, {0, 0, 0});
  // Numbers near 1000 are stored to 6e-5, and deviate by 0.3.
  require_as_reference("InstanceNormalization", {x, ones, zeros}, {}, 5e-4);
}

TEST_CASE("training and statistics that do not fit are not for these kernels") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const std::vector<Datum> inputs{uniform({4, 6, 5}, -3, 3), by_channel(-1, 1, 2), by_channel(-1, 1, 3),
                                  by_channel(-1, 1, 4), by_channel(0.1, 2, 5)};
  const std::vector<Attr> training{{"training_mode", int64_t{1}, ""}};
  const auto got = run_node("BatchNormalization", inputs, {.attrs = training, .outputs = 3, .backend = cpu.get()});
  const auto expected = run_node("BatchNormalization", inputs, {.attrs = training, .outputs = 3});
  for (size_t i = 0; i < 3; ++i) require_close(got[i].tensor(), expected[i].tensor(), kTolerance);
  std::vector<Datum> wrong = inputs;
  wrong[1] = by_channel(-1, 1, 2, 5);
  REQUIRE(error_of("BatchNormalization", wrong, {.backend = cpu.get()}).find("BatchNormalization") !=
          std::string::npos);
}

}  // namespace mlopt::test
