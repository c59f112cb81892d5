#include "core/rewrite/unknown_sizes.h"

#include "graphopt/pipelines.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

const SymDims& dims_of(const Model& model, const char* name) { return *model.graph->find(name)->type.dims; }

}  // namespace

TEST_CASE("a size that nothing tells is the same wherever it goes") {
  Model model = test::fixture(R"(g (float[N,8] x, int64[2] s) => (float[P,Q] y, float[R,S] z)
    { a = Reshape (x, s)  b = Relu (a)  y = Transpose <perm = [1, 0]> (b)  z = Reshape (x, s) })");
  infer(model);
  name_unknown_sizes(model, nullptr);
  CHECK(dims_of(model, "a")[0].known());
  CHECK(dims_of(model, "b") == dims_of(model, "a"));
  CHECK(dims_of(model, "y")[1] == dims_of(model, "a")[0]);
  CHECK_FALSE(dims_of(model, "a")[0] == dims_of(model, "a")[1]);
  CHECK_FALSE(dims_of(model, "z")[0] == dims_of(model, "a")[0]);
  forget_named_sizes(model);
  CHECK_FALSE(dims_of(model, "b")[0].known());
  CHECK(dims_of(model, "x")[0] == Dim::symbol("N"));
}

TEST_CASE("heads of rows whose number is not known are found, and the file states nothing of the names") {
  // The mask's Reshape leaves the number of rows open.
  Model model = test::fixture(R"(g (float[B,T,32] x, int64[3] s, float[32,32] Q, float[32,32] K, float[32,32] V)
    => (float[A,C,32] y)
    <int64[4] heads = {0, 0, 4, 8}, int64[3] rows = {0, 0, 32}, float root = {2.828427}>
    { r = Reshape (x, s)
      q = MatMul (r, Q)  q4 = Reshape (q, heads)  qt = Transpose <perm = [0, 2, 1, 3]> (q4)
      k = MatMul (r, K)  k4 = Reshape (k, heads)  kt = Transpose <perm = [0, 2, 3, 1]> (k4)
      v = MatMul (r, V)  v4 = Reshape (v, heads)  vt = Transpose <perm = [0, 2, 1, 3]> (v4)
      scores = MatMul (qt, kt)  scaled = Div (scores, root)  p = Softmax <axis = -1> (scaled)
      o = MatMul (p, vt)  ot = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (ot, rows) })");
  PassContext context = test::pass_context();
  context.target = Target::kOrt;
  graphopt::fuse(model, context, {});
  CHECK(test::operators(*model.graph).find("Attention") != std::string::npos);
  for (const Value* v : model.graph->values())
    if (v->type.dims) CHECK(to_string(*v->type.dims).find("?size") == std::string::npos);
}

TEST_CASE("no size follows from the others in what data may leave empty") {
  const auto fused = [](const std::string& read) {
    Model model = test::fixture(R"(g (float[N,3,H,4] x, bool[N] keep) => (float[K,3,M] y)
      <int64[1] first = {0}, int64[1] three = {3}, int64[1] four = {4}, int64[1] third = {2}>
      { i = NonZero (keep)  j = Squeeze (i, first)  b = )" +
                                read + R"(  s = Shape (b)  k = Gather (s, first)
        h = Gather (s, third)  w = Mul (h, four)  t = Concat <axis = 0> (k, three, w)  y = Reshape (b, t) })");
    PassContext context = test::pass_context();
    graphopt::fuse(model, context, {});
    return test::operators(*model.graph);
  };
  CHECK(fused("Relu (x)") == "Relu Reshape");
  CHECK(fused("Gather <axis = 0> (x, j)").find("Concat") != std::string::npos);
}
