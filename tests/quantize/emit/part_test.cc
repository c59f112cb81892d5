#include "quantize/emit/part.h"

#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("a value is parted from the one reader that is named, and keeps its type and its numbers") {
  Model model = test::fixture("g (float[3] x) => (float[3] y) { h = Exp (x) r = Neg (h) y = Add (h, r) }");
  infer(model, standard_types);
  const Model source = clone(model);
  Value* h = model.graph->find("h");
  quantize::part(*model.graph, h->uses[1]);
  REQUIRE(verify(model).empty());
  CHECK(test::operators(*model.graph) == "Exp Neg LeakyRelu Add");
  const Node* kept = model.graph->find("h_kept")->producer;
  CHECK(kept->input(0) == h);
  CHECK(kept->output(0)->type.dims == h->type.dims);
  test::require_same_model(source, model, 0);
}
