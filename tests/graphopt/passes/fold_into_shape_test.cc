#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_into_shape;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& taken, const std::string& y = "int64[K] y") {
  return "g (double[N,6,H] x) => (" + y +
         ") <int64 i0 = {0}, int64 last = {-1}, int64[1] l0 = {0}, int64[1] l2 = {2}, "
         "int64[1] far = {9}, int64[2] both = {0, 1}, int64[2] apart = {0, 2}, int64[1] two = {-2}> { s = Shape (x)  " +
         taken + " }";
}

}  // namespace

TEST_CASE("Shape gives the sizes that are taken from it") {
  for (const char* taken :
       {"n = Gather (s, i0)  y = Unsqueeze (n, l0)", "n = Gather (s, last)  y = Unsqueeze (n, l0)",
        "y = Gather (s, l2)", "y = Gather (s, both)", "y = Slice (s, l0, l2)", "y = Slice (s, two, far)"}) {
    INFO(taken);
    CHECK(rewritten(fold_into_shape, graph(taken)) == "Shape");
  }
}

TEST_CASE("single sizes, sizes apart, invalid ones and older opsets stay") {
  CHECK(declined(fold_into_shape, graph("y = Gather (s, i0)", "int64 y")) == "its indices are no list");
  CHECK(declined(fold_into_shape, graph("y = Gather (s, apart)")) == "its indices do not follow each other");
  CHECK(declined(fold_into_shape, graph("y = Gather (s, far)")) == "its indices are not valid");
  CHECK(declined(fold_into_shape, graph("y = Slice (s, l2, l0)")) == "its indices are not valid");
  CHECK(declined(fold_into_shape, graph("y = Gather (s, l2)"), 14) == "Shape gives all sizes before opset 15");
  CHECK(declined(fold_into_shape, R"(g (double[N,6,H] x) => (int64[1] y) <int64[1] l0 = {0}> {
    s = Shape <start = 1> (x)  y = Gather (s, l0) })") == "it is a part of the sizes already");
}
