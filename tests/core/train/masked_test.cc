#include "core/train/masked.h"

#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "core/train/trainer.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/memory_data.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("weights that are 0 stay 0 under every optimizer, and the others are learned") {
  const Tensor x = uniform({8, 3}, -1, 1, DType::kF32, 5), y = uniform({8, 2}, -1, 1, DType::kF32, 6);
  const MemoryData data(x, y);
  for (const train::OptimizerDef& optimizer : train::optimizers()) {
    for (const bool keep : {true, false}) {
      Net net;
      Value* w = net.graph().add_constant("w", tensor({3, 2}, {0.5, 0, -1, 0, 2, 0.25}));
      Value* b = net.graph().add_constant("b", tensor({2}, {0, 0.5}));
      net.output(net.op("Gemm", {net.input({4, 3}), w, b}));
      infer(net.model, standard_types);
      train::Recipe recipe;
      recipe.loss = train::find_loss("mse");
      recipe.optimizer = &optimizer;
      recipe.settings.weight_decay = 0.1;
      recipe.keep_zeros = keep;
      const train::TrainingGraphs graphs = train::make_graphs(net.model, {{4, 3}}, recipe, standard_types);
      train::LoopSettings loop;
      loop.batch = 4;
      loop.schedule = {train::find_schedule("constant"), 0.05, 100, 0};
      const auto backend = cpu_with_fallback();
      train::Trainer trainer(graphs, data, *backend, {}, loop);
      for (int i = 0; i < 5; ++i) trainer.step();
      const std::vector<double> now = to_doubles(graphs.state->at("w")), bias = to_doubles(graphs.state->at("b"));
      INFO(optimizer.name << (keep ? ", kept" : ""));
      for (const size_t zero : {1, 3}) CHECK((now[zero] == 0) == keep);
      CHECK(now[0] != 0.5);
      CHECK(now[5] != 0.25);
      CHECK(bias[0] != 0);  // a bias of 0 is where biases begin
    }
  }
}

TEST_CASE("a layer of zeros stays one, and what begins as zeros beside it is learned") {
  const MemoryData data(uniform({8, 3}, -1, 1, DType::kF32, 5), uniform({8, 2}, -1, 1, DType::kF32, 6));
  for (const bool corrected : {false, true}) {
    Net net;
    Value* w = net.graph().add_constant("w", Tensor::zeros(DType::kF32, {2, 3}));
    Value* b = net.graph().add_constant("b", Tensor::zeros(DType::kF32, {1, 2}));
    Value* turned = net.op("Transpose", {w});
    net.output(net.op("Add", {net.op("MatMul", {net.input({4, 3}), turned}), b}));
    infer(net.model, standard_types);
    train::Recipe recipe;
    recipe.loss = train::find_loss("mse");
    recipe.optimizer = train::find_optimizer("adam");
    recipe.keep_zeros = true;
    if (corrected) recipe.corrected = {"w"};
    const train::TrainingGraphs graphs = train::make_graphs(net.model, {{4, 3}}, recipe, standard_types);
    train::LoopSettings loop;
    loop.batch = 4;
    loop.schedule = {train::find_schedule("constant"), 0.05, 100, 0};
    const auto backend = cpu_with_fallback();
    train::Trainer trainer(graphs, data, *backend, {}, loop);
    for (int i = 0; i < 3; ++i) trainer.step();
    CHECK(to_doubles(graphs.state->at("w")) == std::vector<double>(6, 0));
    for (const double x : to_doubles(graphs.state->at("b"))) CHECK(x != 0);
  }
}

TEST_CASE("weights of which all or none are 0 keep their gradient") {
  Model model;
  model.ir_version = 10;
  model.set_opset("", 21);
  Value* gradient = model.graph->add_input("g", Type::tensor(DType::kF32, Dims{2, 2}));
  train::Builder build(model, standard_types);
  CHECK(train::masked(build, gradient, Tensor::zeros(DType::kF32, {2, 2})) == gradient);
  CHECK(train::masked(build, gradient, tensor({2, 2}, {1, 2, 3, 4})) == gradient);
  CHECK(train::masked(build, gradient, tensor({2, 2}, {1, 0, 3, 4})) != gradient);
}

}  // namespace mlopt::test
