#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_reshapes;
using test::declined;
using test::rewritten;

TEST_CASE("a chain of reshapes is one") {
  CHECK(rewritten(merge_reshapes,
                  R"(g (double[N,2,6] x) => (double[N,12] y) <int64[4] s = {0, 3, 2, 2}, int64[2] t = {0, -1}>
    { a = Reshape (x, s)  y = Reshape (a, t) })") == "Reshape");
  CHECK(rewritten(merge_reshapes, R"(g (double[N,2,6,1] x) => (double[N,12] y) <int64[1] three = {3}>
    { a = Squeeze (x, three)  y = Flatten (a) })") == "Reshape");
  CHECK(rewritten(merge_reshapes, R"(g (double[6,2] x) => (double[3,4] y) <int64[1] zero = {0}, int64[2] t = {3, 4}>
    { a = Unsqueeze (x, zero)  y = Reshape (a, t) })") == "Reshape");
}

TEST_CASE("Squeeze and Unsqueeze go where they undo what is before them, also where others read that") {
  CHECK(rewritten(merge_reshapes, R"(g (double[N,6] x) => (double[N,6] y, double[N,1,6] z) <int64[1] one = {1}>
    { a = Unsqueeze (x, one)  b = Squeeze (a, one)  y = Relu (b)  z = Neg (a) })") == "Unsqueeze Relu Neg");
  CHECK(rewritten(merge_reshapes, R"(g (double[N,1] x) => (double[N,1] y) <int64[1] one = {1}, int64[1] t = {-1}>
    { a = Reshape (x, t)  b = Unsqueeze (a, one)  y = Relu (b) })") == "Relu");
  CHECK(declined(merge_reshapes, R"(g (double[N,6] x) => (double[1,N,6] y) <int64[1] one = {1}, int64[2] both = {0, 2}>
    { a = Unsqueeze (x, both)  t = Identity (one)  y = Squeeze (a, t) })") == "it does not undo what is before it");
}

TEST_CASE("reshapes stay where the result is not known well enough, or what is between is read") {
  CHECK(declined(merge_reshapes, R"(g (double[N,M,4] x, int64[3] s) => (double[A,B] y) <int64[2] t = {0, -1}>
    { a = Reshape (x, s)  y = Reshape (a, t) })") == "more than one dimension of its result is not known");
  CHECK(declined(merge_reshapes, R"(g (double[N,4] x) => (double[M,2] y, double[A,8] z)
    <int64[2] s = {-1, 8}, int64[2] t = {-1, 2}> { a = Reshape (x, s)  y = Reshape (a, t)  z = Neg (a) })")
            .find("is used elsewhere too") != std::string::npos);
}

TEST_CASE("a zero that copies an axis of what was between is not taken for one of the source") {
  CHECK(rewritten(merge_reshapes, R"(g (double[2,6] x) => (double[3,4] y) <int64[2] s = {3, 4}, int64[2] t = {0, 0}>
    { a = Reshape (x, s)  y = Reshape (a, t) })") == "Reshape");
}
