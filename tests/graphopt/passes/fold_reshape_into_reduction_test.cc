#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_reshape_into_reduction;
using test::declined;
using test::rewritten;

TEST_CASE("a reduction keeps or drops its axes itself") {
  CHECK(rewritten(fold_reshape_into_reduction, R"(g (double[N,2,3] x) => (double[N,1,3] y) <int64[1] one = {1}>
    { a = ReduceMean <keepdims = 0> (x, one)  y = Unsqueeze (a, one) })") == "ReduceMean");
  CHECK(rewritten(fold_reshape_into_reduction, R"(g (double[N,2,3] x) => (double[N,2] y)
    { a = ReduceMax <axes = [-1]> (x)  y = Squeeze <axes = [2]> (a) })",
                  12) == "ReduceMax");
  CHECK(rewritten(fold_reshape_into_reduction, R"(g (double[N,4,2,3] x) => (double[N,4] y)
    <int64[2] axes = {2, 3}> { a = ReduceMean (x, axes)  y = Flatten (a) })") == "ReduceMean");
}

TEST_CASE("a number between them changes nothing") {
  CHECK(rewritten(fold_reshape_into_reduction, R"(g (double[N,2,3] x) => (double[N,2,1] y)
    <int64[1] last = {2}, double c = {1.5}, int64[3] dims = {0, 0, 1}>
    { a = ReduceMean <keepdims = 0> (x, last)  b = Mul (c, a)  y = Reshape (b, dims) })") == "ReduceMean Mul");
  CHECK(rewritten(fold_reshape_into_reduction, R"(g (double[N,2,3] x) => (double[N,2,1] y)
    <int64[1] last = {2}, double c = {1.5}>
    { a = ReduceMean <keepdims = 0> (x, last)  b = Div (a, c)  y = Unsqueeze (b, last) })") == "ReduceMean Div");
  CHECK(declined(fold_reshape_into_reduction, R"(g (double[N,2,3] x, double[2] C) => (double[N,2,1] y)
    <int64[1] last = {2}>
    { a = ReduceMean <keepdims = 0> (x, last)  b = Mul (C, a)  y = Unsqueeze (b, last) })") ==
        "what is between them is no number");
}

TEST_CASE("other axes, a second reader and an unknown rank keep both") {
  CHECK(declined(fold_reshape_into_reduction,
                 R"(g (double[N,2,3] x) => (double[N,3,1] y) <int64[1] one = {1}, int64[1] two = {2}>
    { a = ReduceMean <keepdims = 0> (x, one)  y = Unsqueeze (a, two) })") ==
        "it changes other axes than the reduction's");
  CHECK(declined(fold_reshape_into_reduction,
                 R"(g (double[N,2,3] x) => (double[N,3] y, double[N,1,3] a) <int64[1] one = {1}>
    { a = ReduceMean (x, one)  y = Squeeze (a, one) })")
            .find("used elsewhere") != std::string::npos);
}
