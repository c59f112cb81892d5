#include "core/train/corrections.h"

#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("who reads a parameter reads it with its correction, which is none at first") {
  Model model = test::fixture(R"(
    g (float[N,4] x, float[4,4] V) => (float[N,4] y) {
      a = MatMul (x, V)
      y = MatMul (a, V)
    })");
  infer(model, standard_types);
  StateStore state;
  const std::vector<std::string> names = {"V", "not there"};
  train::add_corrections(*model.graph, names, state);
  CHECK(test::operators(*model.graph) == "Add MatMul MatMul");
  REQUIRE(state.has(train::correction_of("V")));
  const Tensor& correction = state.at(train::correction_of("V"));
  CHECK(correction.dims() == Dims{4, 4});
  for (const float x : correction.span<float>()) CHECK(x == 0);
  const Node* sum = model.graph->nodes().at(0);
  CHECK(sum->input(0)->name == "V");
  CHECK(sum->input(0)->uses.size() == 1);
  CHECK(sum->input(1)->is_input);
  CHECK(sum->output(0)->uses.size() == 2);
}
