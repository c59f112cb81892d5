#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_cast;
using test::declined;
using test::rewritten;

TEST_CASE("Cast to the type that a value has goes") {
  CHECK(rewritten(eliminate_nop_cast, R"(g (double[N] x, int64[N] k) => (double[N] y, int64[N] z) {
    a = Cast <to = 11> (x)  y = Relu (a)
    b = Cast <to = 7> (k)  z = Neg (b)
  })") == "Relu Neg");
}

TEST_CASE("Cast that changes the type stays") {
  CHECK(declined(eliminate_nop_cast, "g (double[N] x) => (float[N] y) { y = Cast <to = 1> (x) }") ==
        "it changes the type");
  CHECK(declined(eliminate_nop_cast, "g (double[N] x) => (float[N] y) { a = local.what (x)  y = Cast <to = 1> (a) }") ==
        "the type of its input is not known");
}
