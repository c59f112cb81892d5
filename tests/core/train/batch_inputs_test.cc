#include "core/train/batch_inputs.h"

#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

Model scaled() {
  return parse_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    net (float[N,3] x, float s, float[3] w = {1, 2, 3}) => (float[N,3] y) { a = Mul (x, w)  y = Mul (a, s) })");
}

}  // namespace

TEST_CASE("inputs get the shapes of a batch, and defaults are no inputs any more") {
  Model model = scaled();
  train::bind_batch(model, {{4, 3}, {}}, standard_types);
  REQUIRE(model.graph->inputs().size() == 2);
  CHECK(model.graph->find("y")->type.static_dims() == Dims{4, 3});
}

TEST_CASE("what reads a fixed input reads its value, and the rest is settled with known shapes") {
  Model model = scaled();
  train::BatchInputs inputs({{4, 3}, {}});
  inputs.fixed.emplace(1, tensor({}, {0.5}));
  bool known = false;
  inputs.settle = [&](Model& m) { known = m.graph->find("y")->type.static_dims() == Dims{4, 3}; };
  train::bind_batch(model, inputs, standard_types);
  CHECK(known);
  CHECK(model.graph->inputs()[1]->uses.empty());
  const Value* read = model.graph->find("y")->producer->input(1);
  REQUIRE(read->known_constant());
  CHECK(read->known_constant()->data<float>()[0] == 0.5F);
}

}  // namespace mlopt::test
