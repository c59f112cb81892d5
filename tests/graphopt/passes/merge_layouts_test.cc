#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_layouts;
using test::declined;
using test::rewritten;

TEST_CASE("heads that are parted after samples were joined with them are parted at once") {
  CHECK(rewritten(merge_layouts, R"(g (double[6,B,12] x) => (double[B,3,6,4] y)
    <int64[3] s = {6, -1, 4}, int64[4] t = {-1, 3, 6, 4}>
    { a = Reshape (x, s)  b = Transpose <perm = [1, 0, 2]> (a)  y = Reshape (b, t) })") == "Reshape Transpose");
  CHECK(rewritten(merge_layouts, R"(g (double[B,N,12] x) => (double[B,3,N,4] y)
    <int64[4] s = {0, 0, 3, 4}>
    { a = Transpose <perm = [1, 0, 2]> (x)  b = Reshape (a, s)  y = Transpose <perm = [1, 2, 0, 3]> (b) })") ==
        "Reshape Transpose");
}

TEST_CASE("an axis of length 1 that is put in moves with the one before it") {
  Model model = test::fixture(R"(g (double[B,N,12] x) => (double[B,3,1,N,4] y)
    <int64[4] s = {0, 0, 3, 4}, int64[1] at = {2}>
    { a = Reshape (x, s)  b = Transpose <perm = [0, 2, 1, 3]> (a)  y = Unsqueeze (b, at) })");
  infer(model);
  const Model source = clone(model);
  REQUIRE(run_pass(model, merge_layouts, test::pass_context()).applied == 1);
  test::require_same_model(source, model, 0);
  const Node& moved = *model.graph->outputs()[0]->producer;
  REQUIRE(moved.is("Transpose"));
  CHECK(permutation_of(NodeView(moved, 21), 5) == std::vector<int64_t>{0, 2, 3, 1, 4});
}

TEST_CASE("axes that come back need nothing") {
  CHECK(rewritten(merge_layouts, R"(g (double[B,N,12] x) => (double[B,N,12] y)
    <int64[4] s = {0, 0, 3, 4}, int64[3] t = {0, 0, 12}>
    { a = Reshape (x, s)  b = Transpose <perm = [0, 2, 1, 3]> (a)  c = Transpose <perm = [0, 2, 1, 3]> (b)
      d = Reshape (c, t)  y = Relu (d) })") == "Relu");
}

TEST_CASE("axes that move whole need no sizes") {
  // Two sizes that no constant shape could say.
  CHECK(rewritten(merge_layouts, R"(g (double[H,W] x) => (double[1,1,H,W] y) <int64[2] ends = {0, 3}>
    { a = Unsqueeze (x, ends)  y = Transpose <perm = [0, 3, 1, 2]> (a) })") == "Unsqueeze");
  CHECK(rewritten(merge_layouts, R"(g (double[1,C,H,W] x) => (double[1,C,H,W] y) <int64[1] first = {0}>
    { a = Transpose <perm = [0, 2, 3, 1]> (x)  b = Squeeze (a, first)  c = Unsqueeze (b, first)
      d = Transpose <perm = [0, 3, 1, 2]> (c)  y = Relu (d) })") == "Relu");
}

TEST_CASE("a chain that cannot be shorter stays, and so does one that is read on its way") {
  CHECK(declined(merge_layouts, R"(g (double[B,N,12] x) => (double[B,3,N,4] y) <int64[4] s = {0, 0, 3, 4}>
    { a = Reshape (x, s)  y = Transpose <perm = [0, 2, 1, 3]> (a) })")
            .empty());
  CHECK(declined(merge_layouts, R"(g (double[6,B,12] x) => (double[B,3,6,4] y, double[A,6,4] z)
    <int64[3] s = {6, -1, 4}, int64[4] t = {-1, 3, 6, 4}>
    { a = Reshape (x, s)  b = Transpose <perm = [1, 0, 2]> (a)  y = Reshape (b, t)  z = Neg (b) })")
            .empty());
  CHECK(declined(merge_layouts, R"(g (double[B,6] x, int64[2] s) => (double[P,Q] y)
    { a = Reshape (x, s)  y = Transpose <perm = [1, 0]> (a) })") == "how the axes are parted is not known");
}

TEST_CASE("axes that are put in by themselves may be as many as a constant shape could not say") {
  // A Reshape to [0, 1, -1, 1] fails where the first axis is empty.
  CHECK(
      rewritten(merge_layouts, R"(g (double[N,M] x) => (double[N,1,M,1] y) <int64[1] last = {2}, int64[1] second = {1}>
    { a = Unsqueeze (x, last)  y = Unsqueeze (a, second) })") == "Unsqueeze");
}
