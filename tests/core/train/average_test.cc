#include "core/train/average.h"

#include <cmath>

#include "backends/reference/backend.h"
#include "core/exec/state.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {

TEST_CASE("the average of a parameter follows its updates") {
  Model model;
  model.ir_version = 10;
  model.set_opset("", 21);
  train::Builder build(model, standard_types);
  const Type type = Type::tensor(DType::kF32, Dims{2}), scalar = Type::tensor(DType::kF32, Dims{});
  StateStore state;
  state.add("w", tensor({2}, {1, -2}));
  std::vector<StateUpdate> updates;
  Graph& graph = build.graph();
  Value *rate = graph.add_input("rate", scalar), *step = graph.add_input("step", scalar);
  Value *scale = graph.add_input("scale", scalar), *w = graph.add_input("w", type), *g = graph.add_input("g", type);
  Value* next = build.op("Sub", {w, build.op("Mul", {g, rate})});
  graph.add_output(next);
  updates.push_back({"w", next->name});
  const train::OptimizerSettings settings;
  train::UpdateArgs args{build, w, g, rate, step, scale, 0, settings, state, updates};
  add_average(args, 0.9);
  const auto executable = reference_backend()->compile(model, {});
  std::vector<double> expected = {1, -2}, weights = {1, -2};
  for (int t = 1; t <= 200; ++t) {
    const double grad = std::sin(t);
    std::vector<Datum> inputs = {tensor({}, {0.1}), tensor({}, {double(t)}), tensor({}, {1}),
                                 state.at("w"),     tensor({2}, {grad, 1}),  state.at("w/average")};
    const std::vector<Datum> outputs = executable->run(inputs);
    state.set("w", outputs[0].tensor());
    state.set("w/average", outputs[1].tensor());
    const double share = std::max(0.1, 9.0 / (10 + t));
    weights[0] -= 0.1 * grad, weights[1] -= 0.1;
    for (size_t i = 0; i < 2; ++i) expected[i] += share * (weights[i] - expected[i]);
  }
  require_close(state.at("w/average"), tensor({2}, expected), 1e-5);
}

TEST_CASE("the average of what is removed is 0 from then on") {
  for (const DType type : {DType::kF32, DType::kF64}) {
    Model model;
    model.ir_version = 10;
    model.set_opset("", 21);
    train::Builder build(model, standard_types);
    const Type of_w = Type::tensor(type, Dims{2}), scalar = Type::tensor(DType::kF32, Dims{});
    StateStore state;
    state.add("w", cast(tensor({2}, {1, -2}), type));
    std::vector<StateUpdate> updates;
    Graph& graph = build.graph();
    Value *step = graph.add_input("step", scalar), *w = graph.add_input("w", of_w), *kept = graph.add_input("k", of_w);
    Value* next = build.op("Mul", {w, kept});
    graph.add_output(next);
    updates.push_back({"w", next->name});
    const train::OptimizerSettings settings;
    train::UpdateArgs args{build, w, kept, step, step, step, 0, settings, state, updates};
    add_average(args, 0.9, true);
    const std::vector<Datum> inputs = {tensor({}, {1000}), state.at("w"), cast(tensor({2}, {0, 1}), type),
                                       state.at("w/average")};
    const std::vector<Datum> outputs = reference_backend()->compile(model, {})->run(inputs);
    CHECK(to_doubles(outputs[1].tensor()) == std::vector<double>{0, -2});
  }
}

}  // namespace mlopt::test
