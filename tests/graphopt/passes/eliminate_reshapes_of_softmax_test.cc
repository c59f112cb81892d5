#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_reshapes_of_softmax;
using test::declined;
using test::rewritten;

namespace {

/// x, made rows by `rows`, normalized, and of its own shape again.
std::string graph(const std::string& x, const std::string& rows, const std::string& softmax = "s = Softmax (r)",
                  const std::string& shape = "0, -1, 1, 1") {
  return "g (double[" + x + "] x) => (double[" + x + "] y) <int64[2] two = {-1, 6}, int64[4] back = {" + shape +
         "}, int64[2] last = {2, 3}> { r = " + rows + "  " + softmax + "  y = Reshape (s, back) }";
}

}  // namespace

TEST_CASE("rows along one axis are normalized along it") {
  CHECK(rewritten(eliminate_reshapes_of_softmax, graph("N,6,1,1", "Flatten (x)")) == "Softmax");
  CHECK(rewritten(eliminate_reshapes_of_softmax, graph("N,6,1,1", "Flatten (x)"), 11) == "Softmax");
  CHECK(rewritten(eliminate_reshapes_of_softmax,
                  graph("N,6,1,1", "Squeeze (x, last)", "s = LogSoftmax <axis = 1> (r)")) == "LogSoftmax");
  CHECK(rewritten(eliminate_reshapes_of_softmax,
                  graph("N,2,3,6", "Reshape (x, two)", "s = Softmax (r)", "-1, 2, 3, 6")) == "Softmax");
}

TEST_CASE("rows of several axes, or along another one, stay") {
  const std::string why = "its rows are not along one axis";
  CHECK(declined(eliminate_reshapes_of_softmax, graph("N,3,2,1", "Flatten (x)", "s = Softmax (r)", "0, 3, 2, 1")) ==
        why);
  CHECK(declined(eliminate_reshapes_of_softmax,
                 graph("N,2,6,3", "Reshape (x, two)", "s = Softmax (r)", "-1, 2, 6, 3")) == why);
  CHECK(declined(eliminate_reshapes_of_softmax, graph("N,6,1,1", "Flatten (x)", "s = Softmax <axis = 0> (r)")) ==
        "another axis than the last one");
}

TEST_CASE("rows that stay rows, or that others read, stay") {
  CHECK(
      declined(eliminate_reshapes_of_softmax,
               "g (double[N,6,1,1] x) => (double[N,2,3] y) <int64[3] s = {0, 2, 3}> { r = Flatten (x)  w = Softmax (r)"
               "  y = Reshape (w, s) }")
          .empty());
  CHECK_FALSE(declined(eliminate_reshapes_of_softmax,
                       "g (double[N,6,1,1] x) => (double[N,6,1,1] y, double[N,6] z) <int64[4] s = {0, 6, 1, 1}> { "
                       "r = Flatten (x)  w = Softmax (r)  y = Reshape (w, s)  z = Neg (w) }")
                  .empty());
}
