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

TEST_CASE("free dimensions are fixed by name, and the first ones as a batch") {
  const auto made = [] {
    Model model = parse_text(R"(
      <ir_version: 10, opset_import: ["" : 21]>
      main (float[N,S,4] x, float[?,S] m, float[2] c) => (float[N,S,4] y, float[?,T] z) {
        y = Add (x, x)
        a = Concat <axis = 1> (m, m)
        z = Neg (a)
      })");
    infer(model);
    return model;
  };
  Model named = made();
  fix_dimensions(named, {{"S", 7}}, 0);
  CHECK(to_string(named.graph->inputs()[0]->type) == "float32[N,7,4]");
  CHECK(to_string(named.graph->outputs()[0]->type) == "float32[N,7,4]");
  CHECK(named.graph->outputs()[1]->type.dims->back().is(14));
  Model batch = made();
  fix_dimensions(batch, {{"S", 3}}, 5);
  CHECK(to_string(batch.graph->inputs()[0]->type) == "float32[5,3,4]");
  CHECK(to_string(batch.graph->inputs()[1]->type) == "float32[5,3]");
  CHECK(to_string(batch.graph->inputs()[2]->type) == "float32[2]");
  CHECK(to_string(batch.graph->outputs()[1]->type) == "float32[5,6]");
  CHECK_THROWS_AS(fix_dimensions(batch, {}, 5), Error);  // none is free any more
  Model same = made();
  fix_dimensions(same, {{"S", Dim::symbol("N")}}, 0);
  CHECK(to_string(same.graph->inputs()[0]->type) == "float32[N,N,4]");
  CHECK(to_string(same.graph->inputs()[1]->type) == "float32[?,N]");
  CHECK(to_string(same.graph->outputs()[0]->type) == "float32[N,N,4]");
  Model chain = made();
  fix_dimensions(chain, {{"S", Dim::symbol("N")}, {"N", 6}}, 0);
  CHECK(to_string(chain.graph->inputs()[0]->type) == "float32[6,6,4]");
  CHECK_THROWS_AS(fix_dimensions(chain, {{"S", Dim::symbol("N")}}, 0), Error);  // has a size already
  Model loop = made();
  CHECK_THROWS_AS(fix_dimensions(loop, {{"S", Dim::symbol("N")}, {"N", Dim::symbol("S")}}, 0), Error);
  Model other = made();
  CHECK_THROWS_AS(fix_dimensions(other, {{"T", 3}}, 0), Error);  // of an output alone
}
