#include <algorithm>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// Convolutions of 1 x 1 and 3 x 3 that stay channels-last, one with a sum.
Net deep_net(const char* activation) {
  Net net;
  const auto conv = [&](Value* x, int64_t from, int64_t to, int64_t taps) {
    Value* w = net.constant(uniform({to, from, taps, taps}, -0.2, 0.2, DType::kF32, static_cast<uint64_t>(to)));
    return net.op("Conv", {x, w, net.constant(uniform({to}, -1, 1))},
                  {{"pads", std::vector<int64_t>(4, taps / 2), ""}});
  };
  Value* x = conv(net.input({2, 8, 21, 18}), 8, 32, 1);
  Value* y = net.op(activation, {conv(x, 32, 48, 3)});
  y = net.op(activation, {conv(y, 48, 33, 3)});
  y = net.op(activation, {net.op("Add", {conv(y, 33, 32, 3), x})});
  y = net.op(activation, {net.op("Add", {x, conv(y, 32, 32, 1)})});
  net.output(net.op("GlobalAveragePool", {y}));
  return net;
}

int64_t count_of(const std::vector<StepProfile>& steps, std::string_view kernel) {
  return std::count_if(steps.begin(), steps.end(), [&](const StepProfile& s) { return s.kernel == kernel; });
}

}  // namespace

TEST_CASE("deep convolutions give what the reference gives") {
  for (const char* activation : {"Relu", "HardSwish", "Sigmoid"}) {
    INFO(activation);
    require_same_result(deep_net(activation).model, 1e-4);
  }
}

TEST_CASE("deep convolutions of 3 x 3 are done by Winograd's method") {
  CompileOptions options;
  options.profile = true;
  const auto executable = cpu_with_fallback()->compile(deep_net("Relu").model, options);
  (void)executable->run(std::vector<Datum>{uniform({2, 8, 21, 18}, -1, 1)});
  REQUIRE(count_of(executable->profile(), "winograd") > 0);
}

}  // namespace mlopt::test
