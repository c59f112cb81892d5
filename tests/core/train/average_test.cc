#include "core/train/average.h"

#include <cmath>

#include "backends/reference/backend.h"
#include "core/exec/state.h"
#include "core/onnx/infer.h"
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

}  // namespace mlopt::test
