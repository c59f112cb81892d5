#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_clips;
using test::declined;
using test::rewritten;

TEST_CASE("a chain of Clip and Relu becomes one") {
  CHECK(rewritten(merge_clips, R"(g (double[N] x) => (double[N] y) <double lo = {-0.5}, double hi = {0.25}>
    { a = Relu (x)  y = Clip (a, lo, hi) })") == "Clip");
  CHECK(rewritten(merge_clips, R"(g (double[N] x) => (double[N] y) <double hi = {0.25}>
    { a = Clip (x, , hi)  y = Relu (a) })") == "Clip");
  CHECK(rewritten(merge_clips, "g (double[N] x) => (double[N] y) { a = Relu (x)  b = Relu (a)  y = Neg (b) }") ==
        "Relu Neg");
  CHECK(rewritten(merge_clips, R"(g (float[N] x) => (float[N] y)
    { a = Clip <min = -0.5, max = 0.5> (x)  y = Clip <min = 0.0> (a) })",
                  7) == "Clip");
}

TEST_CASE("limits that do not meet leave one number") {
  CHECK(
      rewritten(merge_clips, R"(g (double[N] x) => (double[N] y) <double lo = {1}, double hi = {2}, double top = {0.5}>
    { a = Clip (x, lo, hi)  y = Clip (a, , top) })") == "Clip");
}

TEST_CASE("what a Clip leaves unchanged needs none even where others read it") {
  CHECK(rewritten(merge_clips, R"(g (double[N] x) => (double[N] y, double[N] z) <double lo = {-1}, double hi = {inf}>
    { a = Relu (x)  z = Neg (a)  b = Clip (a, lo, hi)  y = Exp (b) })") == "Relu Neg Exp");
}

TEST_CASE("Clip of what others read, by computed limits, or of integers, stays") {
  CHECK(declined(merge_clips, R"(g (double[N] x) => (double[N] y, double[N] a) <double hi = {0.5}>
    { a = Relu (x)  y = Clip (a, , hi) })") == "what is limited before it is used elsewhere too");
  CHECK(declined(merge_clips, "g (double[N] x, double hi) => (double[N] y) { a = Relu (x)  y = Clip (a, , hi) }") ==
        "its limits are not constant and in order");
  CHECK(declined(merge_clips, R"(g (double[N] x) => (double[N] y) <double lo = {2}, double hi = {1}>
    { a = Relu (x)  y = Clip (a, lo, hi) })") == "its limits are not constant and in order");
  CHECK(declined(merge_clips, R"(g (int64[N] x) => (int64[N] y) <int64 lo = {2}>
    { a = Relu (x)  y = Clip (a, lo) })") == "its elements are no floats");
}
