#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_transposes;
using test::declined;
using test::rewritten;

TEST_CASE("two Transposes are one with both permutations") {
  CHECK(rewritten(merge_transposes, R"(g (double[N,2,3,4] x) => (double[N,4,2,3] y) {
    a = Transpose <perm = [0, 2, 3, 1]> (x)  y = Transpose <perm = [0, 2, 3, 1]> (a)
  })") == "Transpose");
  CHECK(rewritten(merge_transposes, R"(g (double[N,3,4] x) => (double[3,4,N] y) {
    a = Transpose (x)  b = Transpose (a)  y = Transpose <perm = [1, 2, 0]> (b)
  })") == "Transpose");
}

TEST_CASE("the first one stays for its other readers") {
  CHECK(rewritten(merge_transposes, R"(g (double[N,3] x) => (double[N,3] y, double[3,N] z) {
    a = Transpose (x)  z = Neg (a)  y = Transpose (a)
  })") == "Transpose Neg Transpose");
}

TEST_CASE("Transposes of values of unknown rank stay") {
  CHECK(declined(merge_transposes, R"(g (double[N,3] x) => (double[A,B] y)
    { u = local.what (x)  a = Transpose (u)  y = Transpose (a) })") == "its permutation is not known");
  CHECK(declined(merge_transposes, "g (double[N,3] x) => (double[3,N] y) { a = Neg (x)  y = Transpose (a) }").empty());
}
