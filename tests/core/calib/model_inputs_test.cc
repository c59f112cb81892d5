#include "core/calib/model_inputs.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("a copy with the smallest inputs has shapes of numbers, and the model keeps its own") {
  const Model model = test::fixture("g (float[N,S,4] x) => (float[N,S,8] y) { y = Concat <axis = 2> (x, x) }");
  const Model small = with_smallest_inputs(model, nullptr);
  CHECK(to_string(*small.graph->find("x")->type.dims) == "[1,1,4]");
  CHECK(small.graph->find("y")->type.static_dims() == Dims{1, 1, 8});
  CHECK(to_string(*model.graph->find("x")->type.dims) == "[N,S,4]");
}
