#include <cmath>

#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::min_max_to_clip;
using test::declined;
using test::rewritten;

TEST_CASE("Min and Max with one number become Clip") {
  CHECK(rewritten(min_max_to_clip, R"(g (double[N] x) => (double[N] y) <double lo = {-0.5}, double[1] hi = {0.25}>
    { a = Max (lo, x)  y = Min (a, hi) })") == "Clip Clip");
  CHECK(rewritten(min_max_to_clip, "g (double[N] x) => (double[N] y) <double zero = {0}> { y = Max (x, zero) }") ==
        "Relu");
  CHECK(rewritten(min_max_to_clip, "g (float[N] x) => (float[N] y) <float hi = {0.5}> { y = Min (x, hi) }", 9) ==
        "Clip");
}

TEST_CASE("Min and Max of tensors, of integers and with more axes stay") {
  CHECK(declined(min_max_to_clip, "g (double[N,2] x, double[2] C) => (double[N,2] y) { y = Max (x, C) }") ==
        "its limit is more than one number");
  CHECK(declined(min_max_to_clip, "g (double[N] x) => (double[1,N] y) <double[1,1] c = {1}> { y = Max (x, c) }") ==
        "its limit may add axes");
  CHECK(declined(min_max_to_clip, "g (int64[N] x) => (int64[N] y) <int64 c = {1}> { y = Max (x, c) }") ==
        "its elements are no floats");
  CHECK(declined(min_max_to_clip, "g (double[N] x, double c) => (double[N] y) { y = Max (x, c) }") ==
        "'c' is not constant");
  CHECK(declined(min_max_to_clip, "g (double[N] x) => (double[N] y) <double c = {1}> { y = Max (x, c, x) }").empty());
  CHECK(declined(min_max_to_clip, "g (float[N] x) => (float[N] y) <float[1] c = {1}> { y = Max (x, c) }", 7) ==
        "its opset does not broadcast");
}

TEST_CASE("infinities pass where there was no limit") {
  const Model source = test::fixture("g (double[3] x) => (double[3] y) <double hi = {0.5}> { y = Min (x, hi) }");
  Model result = clone(source);
  REQUIRE(run_pass(result, min_max_to_clip, test::pass_context()).applied == 1);
  CHECK(std::isinf(*NodeView(*result.graph->outputs()[0]->producer, 21).number("min", 1, 0)));
}
