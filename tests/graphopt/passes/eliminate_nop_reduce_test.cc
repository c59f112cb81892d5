#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_reduce;
using test::declined;
using test::rewritten;

TEST_CASE("reductions over one element go") {
  CHECK(rewritten(eliminate_nop_reduce, R"(g (double[N,1,3] x) => (double[N,1,3] y) <int64[1] axes = {-2}>
    { a = ReduceMean (x, axes)  y = Neg (a) })") == "Neg");
  CHECK(rewritten(eliminate_nop_reduce, R"(g (double[N,1,3] x) => (double[N,3] y)
    { a = ReduceMax <axes = [1], keepdims = 0> (x)  y = Neg (a) })",
                  13) == "Squeeze Neg");
  CHECK(rewritten(eliminate_nop_reduce, R"(g (double[N,3] x) => (double[N,3] y)
    { a = ReduceSum <noop_with_empty_axes = 1> (x)  y = Neg (a) })") == "Neg");
}

TEST_CASE("reductions over more, over an axis that may be longer, and by another formula, stay") {
  CHECK(declined(eliminate_nop_reduce, R"(g (double[N,1,3] x) => (double[N,1,1] y) <int64[1] axes = {2}>
    { y = ReduceMean (x, axes) })") == "it goes over more than one element");
  CHECK(declined(eliminate_nop_reduce, R"(g (double[N,1] x) => (double[1,1] y) <int64[1] axes = {0}>
    { y = ReduceSum (x, axes) })") == "it goes over more than one element");
  CHECK(declined(eliminate_nop_reduce, "g (double[1,1] x, int64[1] a) => (double[1,1] y) { y = ReduceSum (x, a) }") ==
        "its axes are not known");
  CHECK(declined(eliminate_nop_reduce, "g (double[1,1] x) => (double[1,1] y) { y = ReduceL1 (x) }").empty());
}
