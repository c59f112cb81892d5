#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::concat_to_shape;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& parts) {
  return "g (double[N,6,H] x, double[N,6,M] z) => (int64[K] y) <int64[1] six = {6}, int64 i0 = {0}, int64 i2 = {2}, "
         "int64[1] l0 = {0}, int64[1] l2 = {2}, int64[1] l3 = {3}> { s = Shape (x)  t = Shape (z)  n = Gather (s, i0)  "
         "nu = Unsqueeze (n, l0)  h = Slice (s, l2, l3)  m = Slice (t, l2, l3)  y = Concat <axis = 0> (" +
         parts + ") }";
}

}  // namespace

TEST_CASE("the sizes of a value, joined again, are its Shape") {
  CHECK(rewritten(concat_to_shape, graph("nu, six, h")) == "Shape");
  CHECK(rewritten(concat_to_shape, graph("nu, six, m")) == "Shape");  // the other value's
}

TEST_CASE("sizes of two values, or in another order, stay") {
  CHECK(declined(concat_to_shape, graph("h, six, nu")) == "its parts are not all sizes of one value");
  CHECK(declined(concat_to_shape, graph("nu, six, h, m")) == "its parts are not all sizes of one value");
  CHECK(declined(concat_to_shape, "g (double[N] x) => (double[M] y) { y = Concat <axis = 0> (x, x) }") ==
        "what it holds is not known");
}
