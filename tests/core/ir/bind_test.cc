#include "core/ir/bind.h"

#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("concrete input shapes replace all that followed from the symbols") {
  Model model = parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21]>
    main (float[N,4] x, bool c) => (float[N,4] y) <int64[2] shape = {-1, 2}> {
      s = Shape (x)
      r = Reshape (x, shape)
      h = If (c) <then_branch = a () => (t) { t = Relu (r) }, else_branch = b () => (e) { e = Neg (r) }>
      y = Reshape (h, s)
    })");
  infer(model);
  const Graph& g = *model.graph;
  CHECK(to_string(g.find("r")->type) == "float32[2*N,2]");
  for (const int64_t n : {3, 5}) {
    bind_input_shapes(model, {{n, 4}, {}});
    CHECK(g.find("h")->type.static_dims() == Dims{2 * n, 2});
    CHECK(g.find("s")->symbolic->at(0).is(n));
    CHECK(g.find("y")->type.static_dims() == Dims{n, 4});
  }
  CHECK_THROWS_AS(bind_input_shapes(model, {}), Error);
}
