#include "tests/support/allocations.h"

#include <functional>

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

using Body = std::function<Value*(Net& net, Value* x)>;

/// Of one run of x -> body(x), after two others.
int64_t allocations_of_run(const Dims& dims, const Body& body, int threads = 1) {
  Net net;
  Value* x = net.input(dims);
  net.output(body(net, x));
  CompileOptions options;
  options.threads = threads;
  const auto plan = cpu_with_fallback()->compile(net.model, options);
  const std::vector<Datum> inputs{uniform(dims, -1, 1)};
  for (int i = 0; i < 2; ++i) plan->run(inputs);
  const int64_t before = allocations();
  plan->run(inputs);
  return allocations() - before;
}

Value* attention(Net& net, Value* x) {
  const auto heads = [&](bool swapped) {
    Value* y = net.op("MatMul", {x, net.constant(uniform({32, 32}, -1, 1))});
    y = net.op("Reshape", {y, net.constant(Tensor::ints({1, 24, 4, 8}))});
    return net.op("Transpose", {y}, {attr("perm", std::vector<int64_t>{0, 2, swapped ? 3 : 1, swapped ? 1 : 3})});
  };
  Value* scores = net.op("Softmax", {net.op("MatMul", {heads(false), heads(true)})});
  return net.op("MatMul", {scores, heads(false)});
}

Value* quantized(Net& net, Value* x) {
  for (const int groups : {1, 16}) {
    Value* y = net.dequantize(net.quantize(x, 0.02, 128), 0.02, 128);
    y = net.op("Conv", {y, net.weights({16, 16 / groups, 3, 3}, 0)},
               {attr("group", static_cast<int>(groups)), attr("pads", std::vector<int64_t>{1, 1, 1, 1})});
    x = net.dequantize(net.quantize(net.op("Relu", {y}), 0.1, 0), 0.1, 0);
  }
  return x;
}

Value* recurrent(Net& net, Value* x) {
  return net.op("LSTM", {x, net.constant(uniform({1, 32, 6}, -1, 1)), net.constant(uniform({1, 32, 8}, -1, 1))},
                {attr("hidden_size", 8)});
}

Value* pooled(Net& net, Value* x) {
  const std::vector<int64_t> three{3, 3}, two{2, 2}, around{1, 1, 1, 1};
  x = net.op("MaxPool", {x}, {attr("kernel_shape", three), attr("pads", around)});
  x = net.op("AveragePool", {x}, {attr("kernel_shape", three), attr("strides", two), attr("pads", around)});
  return net.op("GlobalAveragePool", {x});
}

Value* convolved(Net& net, Value* x, const Dims& kernel, int64_t groups, int64_t stride) {
  const int64_t pad = kernel[2] / 2;
  return net.op("Relu",
                {net.op("Conv", {x, net.constant(uniform(kernel, -1, 1)), net.constant(uniform({kernel[0]}, -1, 1))},
                        {attr("group", static_cast<int>(groups)), attr("strides", std::vector<int64_t>{stride, stride}),
                         attr("pads", std::vector<int64_t>(4, pad))})});
}

Value* moved(Net& net, Value* x) {
  const auto ints = [&](const std::vector<int64_t>& values) { return net.constant(Tensor::ints(values)); };
  Value* y = net.op("Transpose", {x}, {attr("perm", std::vector<int64_t>{0, 2, 1})});
  y = net.op("Concat", {y, net.op("Neg", {y})}, {attr("axis", 1)});
  y = net.op("Slice", {y, ints({1}), ints({7}), ints({1}), ints({2})});
  y = net.op("Pad", {y, ints({0, 1, 1, 0, 2, 0})});
  y = net.op("Gather", {y, ints({2, 0, 1})}, {attr("axis", 2)});
  return net.op("Expand", {net.op("ReduceMean", {y, ints({1})}), ints({1, 3, 3})});
}

}  // namespace

TEST_CASE("a run allocates as much for many steps as for one: what the caller receives") {
  const int64_t least = allocations_of_run({1, 16, 12, 12}, [](Net& net, Value* x) { return net.op("Relu", {x}); });
  INFO("one step: " << least);
  CHECK(least <= 8);
  const auto check = [&](const char* what, const Dims& dims, const Body& body) {
    INFO(what);
    for (const int threads : {1, 2}) CHECK(allocations_of_run(dims, body, threads) <= least);
  };
  const Dims image{1, 16, 12, 12};
  check("Conv 3x3", image, [](Net& net, Value* x) { return convolved(net, x, {16, 16, 3, 3}, 1, 1); });
  check("Conv 1x1", image, [](Net& net, Value* x) { return convolved(net, x, {24, 16, 1, 1}, 1, 1); });
  check("Conv 5x5", image, [](Net& net, Value* x) { return convolved(net, x, {24, 16, 5, 5}, 1, 2); });
  check("depthwise Conv", image, [](Net& net, Value* x) { return convolved(net, x, {16, 1, 3, 3}, 16, 2); });
  check("grouped Conv", image, [](Net& net, Value* x) { return convolved(net, x, {16, 4, 3, 3}, 4, 1); });
  check("pools", image, pooled);
  check("quantized Conv", image, quantized);
  check("attention", {1, 24, 32}, attention);
  check("LSTM", {5, 2, 6}, recurrent);
  check("moves", {1, 8, 10}, moved);
  check("normalization", {1, 8, 32}, [](Net& net, Value* x) {
    Value* y =
        net.op("LayerNormalization", {x, net.constant(uniform({32}, -1, 1)), net.constant(uniform({32}, -1, 1))});
    return net.op("Softmax", {net.op("Add", {net.op("Gelu", {y}), x})});
  });
  check("elementwise", {2, 5, 7}, [](Net& net, Value* x) {
    Value* y = net.op("Mul", {net.op("Sigmoid", {x}), net.constant(uniform({5, 1}, -1, 1))});
    y = net.op("Where", {net.op("Greater", {y, net.constant(Tensor::scalar(0.1f))}), y, net.op("Exp", {x})});
    return net.op("Cast", {net.op("Clip", {y, net.constant(Tensor::scalar(0.0f))})}, {attr("to", 7)});
  });
  check("MatMul", {4, 6, 16}, [](Net& net, Value* x) {
    Value* y = net.op("MatMul", {x, net.constant(uniform({16, 20}, -1, 1))});
    return net.op("MatMul", {y, net.op("Transpose", {y}, {attr("perm", std::vector<int64_t>{0, 2, 1})})});
  });
}

}  // namespace mlopt::test
