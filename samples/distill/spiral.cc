#include "samples/distill/spiral.h"

#include <cmath>
#include <numbers>
#include <string>

#include "core/base/rng.h"

namespace mlopt::spiral {

NamedTensors points(int64_t count, uint64_t seed, bool labelled) {
  constexpr double kTurn = 4, kBlur = 0.15;  // radians: from the middle to the end; deviation
  Rng rng(seed);
  Tensor x(DType::kF32, {count, 2}), labels(DType::kI64, {count});
  for (int64_t i = 0; i < count; ++i) {
    const int64_t arm = i % kArms;
    const double radius = rng.uniform(0.1, 1);
    const double angle = 2 * std::numbers::pi * static_cast<double>(arm) / static_cast<double>(kArms) + kTurn * radius +
                         kBlur * rng.normal();
    x.mutable_data<float>()[2 * i] = static_cast<float>(3 * radius * std::cos(angle));
    x.mutable_data<float>()[2 * i + 1] = static_cast<float>(3 * radius * std::sin(angle));
    labels.mutable_data<int64_t>()[i] = arm;
  }
  NamedTensors arrays = {{"x", x}};
  if (labelled) arrays.emplace_back("label", labels);
  return arrays;
}

Model network(int64_t width, int64_t layers) {
  Model model;
  model.ir_version = 8;
  model.set_opset("", 17);
  Graph& graph = *model.graph;
  graph.name = "arms";
  Value* x = graph.add_input("x", Type::tensor(DType::kF32, SymDims{Dim::symbol("N"), 2}));
  const auto linear = [&](Value* in, int64_t from, int64_t to, const std::string& name) {
    const std::vector<Value*> inputs = {in,
                                        graph.add_constant(name + ".weight", Tensor::zeros(DType::kF32, {from, to})),
                                        graph.add_constant(name + ".bias", Tensor::zeros(DType::kF32, {to}))};
    return graph.add_op("Gemm", inputs, {}, nullptr, name)->output(0);
  };
  int64_t from = 2;
  for (int64_t i = 0; i < layers; ++i) {
    const std::string name = "layer" + std::to_string(i);
    x = graph.add_op("Relu", {linear(x, from, width, name)}, {}, nullptr, name + ".out")->output(0);
    from = width;
  }
  x = linear(x, from, kArms, "scores");
  x->type = Type::tensor(DType::kF32, SymDims{Dim::symbol("N"), kArms});
  graph.add_output(x);
  return model;
}

}  // namespace mlopt::spiral
