// Random convolutional networks on integers, whose values change layouts between operators that want this one or that.
#include <thread>

#include "backends/reference/backend.h"
#include "core/base/rng.h"
#include "core/tensor/compare.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

constexpr double kScale = 0.03;

/// A network in the making: `values` are [1, C, H, W], each DequantizeLinear of 8 bits in the same steps.
class IntegerNet {
 public:
  explicit IntegerNet(uint64_t seed) : rng_(seed), type_(rng_.integer(0, 1) == 0 ? DType::kU8 : DType::kI8) {
    add(net.input({1, 3, 14, 11}), 3, 14, 11);
    while (values_.size() < 12) step(rng_.integer(0, 9));
    net.output(values_.back().value);
    net.output(values_[values_.size() / 2].value);
  }

  Net net;

 private:
  struct Image {
    Value* value;
    int64_t channels, height, width;
  };

  void add(Value* value, int64_t channels, int64_t height, int64_t width) {
    values_.push_back({rounded(value), channels, height, width});
  }
  Value* rounded(Value* value) { return net.rounded(value, kScale, type_ == DType::kU8 ? 128 : 0, type_); }

  void conv(const Image& x) {
    const int64_t taps = rng_.integer(0, 1) * 2 + 1, stride = x.height > 6 ? rng_.integer(1, 2) : 1, pad = taps / 2;
    const bool depthwise = x.channels > 1 && rng_.integer(0, 2) == 0;
    const int64_t channels = depthwise ? x.channels : rng_.integer(1, 40);
    Value* w = net.weights({channels, depthwise ? 1 : x.channels, taps, taps}, 0);
    Value* y = net.op("Conv", {x.value, w},
                      {{"pads", Ints(4, pad), ""},
                       {"strides", Ints(2, stride), ""},
                       {"group", depthwise ? x.channels : int64_t{1}, ""}});
    add(y, channels, (x.height - 1) / stride + 1, (x.width - 1) / stride + 1);
  }

  void join(const Image& a) {
    for (const Image& b : values_)
      if (b.value != a.value && b.height == a.height && b.width == a.width) {
        const Image other = b;
        if (other.channels == a.channels)
          return add(net.op("Add", {other.value, a.value}), a.channels, a.height, a.width);
        return add(net.op("Concat", {a.value, other.value}, {{"axis", int64_t{1}, ""}}), a.channels + other.channels,
                   a.height, a.width);
      }
  }

  void step(int64_t kind) {
    const Image x = values_[static_cast<size_t>(rng_.integer(0, static_cast<int64_t>(values_.size()) - 1))];
    if (kind == 0 && x.height > 3 && x.width > 3)
      return add(net.op("MaxPool", {x.value}, {{"kernel_shape", Ints{2, 3}, ""}, {"strides", Ints{2, 1}, ""}}),
                 x.channels, (x.height - 2) / 2 + 1, x.width - 2);
    if (kind == 1) return add(net.op("Sigmoid", {x.value}), x.channels, x.height, x.width);
    if (kind == 2) {
      Value* mean = rounded(net.op("GlobalAveragePool", {x.value}));
      return add(net.op("Mul", {x.value, mean}), x.channels, x.height, x.width);
    }
    if (kind <= 5) return join(x);
    conv(x);
  }

  Rng rng_;
  DType type_;
  std::vector<Image> values_;
};

}  // namespace

TEST_CASE("networks of integers give the reference's outputs whatever the layouts of their values") {
  constexpr double kSteps = 6;  // a sum that is rounded the other way moves what follows from it
  const std::vector<Datum> inputs{uniform({1, 3, 14, 11}, -1, 1)};
  int large = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const IntegerNet random(seed);
    INFO("seed " << seed);
    const auto expected = reference_backend()->compile(random.net.model, {})->run(inputs);
    const auto actual = cpu_with_fallback()->compile(random.net.model, {})->run(inputs);
    DifferenceSum sum;
    for (size_t i = 0; i < expected.size(); ++i) sum.add(actual[i].tensor(), expected[i].tensor());
    CHECK(sum.result().max_abs <= kSteps * kScale);
    large += sum.result().max_expected > 10 * kSteps * kScale;
  }
  REQUIRE(large > 20);  // or nothing would be compared
}

TEST_CASE("a network of integers runs for several threads at once") {
  const IntegerNet random(3);
  const auto plan = cpu_with_fallback()->compile(random.net.model, {});
  const std::vector<Datum> inputs{uniform({1, 3, 14, 11}, -1, 1)};
  const Tensor expected = plan->run(inputs)[0].tensor();
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int& count : wrong)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) count += mismatch(plan->run(inputs)[0].tensor(), expected, 0, 0).has_value();
    });
  for (std::thread& thread : threads) thread.join();
  REQUIRE(wrong == std::vector<int>(4, 0));
}

}  // namespace mlopt::test
