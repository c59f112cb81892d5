#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::inputs_to_initializers;

namespace {

Model with_default(int64_t ir_version) {
  Model model = test::fixture("g (double[2] x, double[2] w) => (double[2] y) { y = Add (x, w) }", 8);
  model.ir_version = ir_version;
  model.graph->find("w")->constant = Tensor::of<double>({2}, {1, 2});
  return model;
}

}  // namespace

TEST_CASE("initializers of old files are constants") {
  Model model = with_default(3);
  CHECK(run_pass(model, inputs_to_initializers, test::pass_context()).applied == 1);
  CHECK(model.graph->inputs().size() == 1);
  CHECK(model.graph->find("w")->known_constant());
}

TEST_CASE("initializers that newer files list as inputs are defaults") {
  Model model = with_default(4);
  CHECK(run_pass(model, inputs_to_initializers, test::pass_context()).applied == 0);
  CHECK(model.graph->inputs().size() == 2);
}

TEST_CASE("one number may be a setting") {
  Model model = test::fixture("g (double[2] x, double w) => (double[2] y) { y = Add (x, w) }", 8);
  model.ir_version = 3;
  model.graph->find("w")->constant = Tensor::scalar(2.0);
  CHECK(run_pass(model, inputs_to_initializers, test::pass_context()).applied == 0);
}
