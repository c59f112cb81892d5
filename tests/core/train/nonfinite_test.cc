#include "core/train/nonfinite.h"

#include <cmath>

#include "backends/reference/backend.h"
#include "core/onnx/infer.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// log(x w), which has no value where x w is negative.
train::TrainingGraphs logarithm() {
  Net net;
  Value* w = net.graph().add_constant("w", tensor({2, 1}, {1, 1}));
  Value* log = net.op("Log", {net.op("MatMul", {net.input({2, 2}), w})});
  log->producer->name = "logarithm";
  net.output(log);
  infer(net.model, standard_types);
  train::Recipe recipe;
  recipe.loss = train::find_loss("mse");
  recipe.optimizer = train::find_optimizer("sgd");
  return train::make_graphs(net.model, {{2, 2}}, recipe, standard_types);
}

std::string where(const train::TrainingGraphs& graphs, const std::vector<double>& x) {
  const std::vector<Datum> inputs = {tensor({2, 2}, x), tensor({2, 1}, {0, 0})};
  const std::string found = train::first_nonfinite(graphs, inputs, *reference_backend(), {});
  CHECK(train::first_nonfinite(graphs, inputs, *cpu_with_fallback(), {}) == found);
  return found;
}

}  // namespace

TEST_CASE("the first place of a number that is none is named") {
  CHECK(where(logarithm(), {1, 2, 3, 4}).empty());
  CHECK(where(logarithm(), {1, 2, -3, 1}) == "Log 'logarithm'");
  CHECK(where(logarithm(), {1, 2, NAN, 1}) == "the input 'x'");
  const train::TrainingGraphs diverged = logarithm();
  diverged.state->set("w", tensor({2, 1}, {INFINITY, 1}));
  CHECK(where(diverged, {1, 2, 3, 4}) == "the weight 'w'");
}

TEST_CASE("looking for it leaves the state alone") {
  const train::TrainingGraphs graphs = logarithm();
  where(graphs, {1, 2, -3, 1});
  require_close(graphs.state->at("w"), tensor({2, 1}, {1, 1}), 0);
  require_close(graphs.state->at("w/gradient"), tensor({2, 1}, {0, 0}), 0);
}

}  // namespace mlopt::test
