#include <functional>

#include "backends/reference/backend.h"
#include "core/tensor/compare.h"
#include "tests/cudnn/fake_cudnn.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/fake_library.h"
#include "tests/support/gpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

constexpr const char* kPacked = "these tests were packed without libmlopt_fake_cudnn.so";

Attr number(const char* name, int64_t value) { return {name, value, {}}; }

Value* weight(Net& net, const Dims& dims, uint64_t seed) {
  return net.constant(uniform(dims, -0.15, 0.15, DType::kF32, seed));
}

Value* conv(Net& net, Value* x, int64_t from, int64_t to, uint64_t seed) {
  return net.op("Conv", {x, weight(net, {to, from, 3, 3}, seed), weight(net, {to}, seed + 1)},
                {attr("pads", Ints{1, 1, 1, 1})});
}

/// What lies between two convolutions of 20 channels each.
using Between = std::function<Value*(Net&, Value*)>;

const std::pair<const char*, Between> kBetween[] = {
    {"Relu", [](Net& net, Value* y) { return net.op("Relu", {y}); }},
    {"Add",
     [](Net& net, Value* y) {
       return net.op("Add", {y, conv(net, y, 20, 20, 3)});
     }},
    {"MaxPool",
     [](Net& net, Value* y) {
       return net.op("MaxPool", {y}, {attr("kernel_shape", Ints{3, 3}), attr("strides", Ints{2, 2})});
     }},
    {"AveragePool",
     [](Net& net, Value* y) {
       return net.op("AveragePool", {y}, {attr("kernel_shape", Ints{2, 3}), attr("pads", Ints{0, 1, 1, 1})});
     }},
    {"Mul",
     [](Net& net, Value* y) {
       Value* x = net.op("Conv", {net.op("GlobalAveragePool", {y}), weight(net, {20, 20, 1, 1}, 5)});
       return net.op("Mul", {y, net.op("Sigmoid", {x})});
     }},
    {"GlobalMaxPool",
     [](Net& net, Value* y) {
       return net.op("Sub", {y, net.op("GlobalMaxPool", {y})});
     }},
    {"constants",
     [](Net& net, Value* y) {
       y = net.op("Mul", {net.op("Add", {y, weight(net, {1, 20, 12, 10}, 8)}), weight(net, {10}, 9)});
       return net.op("Max", {y, weight(net, {12, 1}, 10), weight(net, {1, 20, 1, 1}, 11)});
     }},
    {"Concat",
     [](Net& net, Value* y) {
       y = net.op("Concat", {conv(net, y, 20, 8, 9), y}, {number("axis", 1)});
       return conv(net, y, 28, 20, 12);
     }},
    {"PRelu",
     [](Net& net, Value* y) {
       return net.op("PRelu", {y, weight(net, {20, 1, 1}, 13)});
     }},
    {"Transpose",  // which is as good row-major
     [](Net& net, Value* y) {
       return net.op("Transpose", {y}, {attr("perm", Ints{0, 1, 3, 2})});
     }},
};

}  // namespace

TEST_CASE("networks of half floats keep their channels last, beside a library that stands for cuDNN") {
  const FakeLibrary<FakeCudnn> fake("mlopt_fake_cudnn", "fake_cudnn");
  if (!fake) return skip(kPacked);
  for (const auto& [name, between] : kBetween) {
    INFO(name);
    Net net;
    Value* y = between(net, conv(net, net.input({2, 3, 12, 10}), 3, 20, 1));
    net.output(conv(net, y, 20, 16, 14));
    const std::vector<Datum> inputs{uniform({2, 3, 12, 10}, -1, 1)};
    const auto expected = reference_backend()->compile(net.model, {})->run(inputs);
    for (const auto& [precision, tolerance] :
         {std::pair(Precision::kF16, 24 * 0x1p-11), std::pair(Precision::kBF16, 24 * 0x1p-8)}) {
      CompileOptions options;
      options.precision = precision;
      fake->channels_last = 0;
      const auto plan = gpu_on_host()->compile(net.model, options);
      for (int time = 0; time < 3; ++time)
        CHECK_FALSE(mismatch(plan->run(inputs)[0].tensor(), expected[0].tensor(), tolerance, tolerance));
      CHECK(fake->channels_last >= (name == std::string_view("Transpose") ? 0 : 6));
    }
  }
}

TEST_CASE("convolutions of half floats by such a library have their channels last") {
  const FakeLibrary<FakeCudnn> fake("mlopt_fake_cudnn", "fake_cudnn");
  if (!fake) return skip(kPacked);
  for (const DType type : {DType::kF16, DType::kBF16}) {
    const double tolerance = type == DType::kF16 ? 1e-2 : 8e-2;
    const Tensor x = uniform({2, 16, 9, 7}, -1, 1), w = uniform({24, 8, 3, 3}, -0.3, 0.3, type),
                 b = uniform({24}, -1, 1, type), each = uniform({16, 1, 3, 3}, -0.3, 0.3, type);
    // A convolution behind another: what lies between has its channels last.
    const auto chain = [&](const Tensor& second, int64_t groups) {
      Net net;
      Value* y = net.op("Cast", {net.input(x.dims())}, {number("to", static_cast<int64_t>(type))});
      y = net.op("Conv", {y, net.constant(each)}, {number("group", int64_t{16})});
      y = net.op("Relu", {net.op("Conv", {y, net.constant(second), net.constant(b)}, {number("group", groups)})});
      y = net.op("Conv", {y, net.constant(uniform({24, 24, 1, 1}, -0.3, 0.3, type))});
      net.output(net.op("Cast", {y}, {number("to", int64_t{1})}));
      const auto plan = gpu_on_host()->compile(net.model, {});
      const std::vector<Datum> inputs{x};
      const Tensor expected = reference_backend()->compile(net.model, {})->run(inputs)[0].tensor();
      for (int time = 0; time < 3; ++time) require_close(plan->run(inputs)[0].tensor(), expected, tolerance);
    };
    chain(w, 2);
    CHECK(fake->channels_last > 0);
    fake->refuses_channels_last = true;
    fake->channels_last = 0;
    chain(w, 2);
    CHECK(fake->channels_last == 0);
    fake->refuses_channels_last = false;
  }
}

}  // namespace mlopt::test
