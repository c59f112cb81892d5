#pragma once
#include <vector>

#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "core/train/trainer.h"
#include "tests/support/memory_data.h"
#include "tests/support/net.h"

namespace mlopt::test {

/// y = x w for numbers x of three features.
inline Net linear() {
  Net net;
  Value* w = net.graph().add_constant("w", tensor({3, 1}, {0.5, -1, 2}));
  net.output(net.op("MatMul", {net.input({4, 3}), w}));
  infer(net.model, standard_types);
  return net;
}

/// Eight samples of such a line of other weights, and `noise` above it.
inline MemoryData line(double noise = 0) {
  const Tensor x = uniform({8, 3}, -1, 1, DType::kF32, 5);
  Tensor y(DType::kF32, {8, 1});
  const auto v = x.span<float>();
  for (size_t i = 0; i < 8; ++i)
    y.mutable_data<float>()[i] = v[3 * i] - 2 * v[3 * i + 1] + 3 * v[3 * i + 2] + static_cast<float>(noise);
  return {x, y};
}

inline train::Recipe recipe(const char* optimizer) {
  train::Recipe r;
  r.loss = train::find_loss("mse");
  r.optimizer = train::find_optimizer(optimizer);
  return r;
}

inline train::LoopSettings loop(double rate, int64_t batch = 4) {
  train::LoopSettings l;
  l.batch = batch;
  l.schedule = {train::find_schedule("constant"), rate, 100, 0};
  return l;
}

/// Those that linear() has learned.
inline std::vector<double> weights(const train::TrainingGraphs& graphs) { return to_doubles(graphs.state->at("w")); }

}  // namespace mlopt::test
