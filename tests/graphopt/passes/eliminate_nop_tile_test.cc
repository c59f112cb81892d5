#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_tile;
using test::declined;
using test::rewritten;

TEST_CASE("Tile that repeats nothing goes") {
  CHECK(rewritten(eliminate_nop_tile,
                  "g (double[N,2] x) => (double[N,2] y) <int64[2] r = {1, 1}> { a = Tile (x, r)  y = Neg (a) }") ==
        "Neg");
}

TEST_CASE("Tile that repeats, or may repeat, stays") {
  CHECK(
      declined(eliminate_nop_tile, "g (double[N,2] x) => (double[N,4] y) <int64[2] r = {1, 2}> { y = Tile (x, r) }") ==
      "it repeats an axis");
  CHECK(declined(eliminate_nop_tile, "g (double[N] x, int64[1] r) => (double[M] y) { y = Tile (x, r) }") ==
        "'r' is not constant");
}
