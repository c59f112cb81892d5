#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_pad;
using test::declined;
using test::rewritten;

TEST_CASE("Pad by nothing goes, whatever its mode") {
  CHECK(rewritten(eliminate_nop_pad, R"(g (double[N,4] x) => (double[N,4] y)
    <int64[4] p = {0, 0, 0, 0}> { a = Pad <mode = "reflect"> (x, p)  y = Relu (a) })") == "Relu");
  CHECK(rewritten(eliminate_nop_pad, R"(g (double[N,4] x) => (double[N,4] y)
    { a = Pad <pads = [0, 0, 0, 0]> (x)  y = Relu (a) })",
                  10) == "Relu");
}

TEST_CASE("Pad that adds, removes or may do so stays") {
  CHECK(declined(eliminate_nop_pad, R"(g (double[N,4] x) => (double[N,5] y)
    <int64[4] p = {0, 0, 0, 1}> { y = Pad (x, p) })") == "it adds or removes elements");
  CHECK(declined(eliminate_nop_pad, R"(g (double[N,4] x) => (double[N,4] y)
    <int64[4] p = {0, -1, 0, 1}> { y = Pad (x, p) })") == "it adds or removes elements");
  CHECK(declined(eliminate_nop_pad, "g (double[N,4] x, int64[4] p) => (double[A,B] y) { y = Pad (x, p) }") ==
        "its pads are not constant");
}
