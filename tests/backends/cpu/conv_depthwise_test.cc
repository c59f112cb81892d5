#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// Depthwise convolutions between such of one tap, one of them with a sum.
Net mobile_net(const char* activation, int64_t channels) {
  Net net;
  const auto conv = [&](Value* x, int64_t to, int64_t from, int64_t taps, int64_t stride, int64_t groups) {
    const Tensor w = uniform({to, from / groups, taps, taps}, -0.4, 0.4, DType::kF32, static_cast<uint64_t>(to + taps));
    return net.op("Conv", {x, net.constant(w), net.constant(uniform({to}, -1, 1))},
                  {{"pads", std::vector<int64_t>(4, taps / 2), ""},
                   {"strides", std::vector<int64_t>(2, stride), ""},
                   {"group", groups, ""}});
  };
  Value* x = net.op(activation, {conv(net.input({2, 3, 21, 18}), channels, 3, 3, 2, 1)});
  Value* y = net.op(activation, {conv(x, channels, channels, 3, 1, channels)});
  y = net.op(activation, {net.op("Add", {conv(y, channels, channels, 5, 1, channels), x})});
  y = net.op(activation, {conv(y, 3 * channels, channels, 3, 2, channels)});
  net.output(net.op("GlobalAveragePool", {conv(y, 16, 3 * channels, 1, 1, 1)}));
  return net;
}

}  // namespace

TEST_CASE("nets of depthwise convolutions give what the reference gives") {
  for (const char* activation : {"Relu", "HardSwish", "Sigmoid"})
    for (const int64_t channels : {16, 37}) {
      INFO(activation << ", " << channels << " channels");
      require_same_result(mobile_net(activation, channels).model, 1e-4);
    }
}

TEST_CASE("depthwise convolutions are done by loops of our own") {
  REQUIRE(steps_by(mobile_net("Relu", 32).model, "depthwise") == 3);
}

TEST_CASE("those along one axis as well, also where nothing else is channels-last") {
  Net net;
  Value* x = net.input({2, 40, 70});
  net.output(net.op("Conv", {x, net.constant(uniform({40, 1, 31}, -1, 1)), net.constant(uniform({40}, -1, 1))},
                    {{"pads", std::vector<int64_t>{15, 15}, ""}, {"group", int64_t{40}, ""}}));
  require_same_result(net.model, 1e-4, true);
  REQUIRE(steps_by(net.model, "depthwise") == 1);
}

}  // namespace mlopt::test
