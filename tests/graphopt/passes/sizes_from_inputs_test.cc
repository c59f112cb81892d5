#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::sizes_from_inputs;
using test::declined;
using test::rewritten;

TEST_CASE("sizes that stand in an input one after the other are read there") {
  // As a causal mask asks the scores.
  CHECK(rewritten(sizes_from_inputs, R"(g (double[B,N,4] x) => (int64[2] y, double[B,N,N] z)
    { t = Transpose <perm = [0, 2, 1]> (x)  z = MatMul (x, t)  y = Shape <end = 2> (z) })")
            .starts_with("Transpose MatMul Shape"));
  CHECK(rewritten(sizes_from_inputs, R"(g (double[B,N,4] x) => (int32[1] y)
    <int64[1] one = {1}, int64[1] two = {2}>
    { r = Relu (x)  s = Shape (r)  n = Slice (s, one, two)  y = Cast <to = 6> (n) })",
                  17) == "Shape Cast");
}

TEST_CASE("one size as a number is read from an input where nothing else is asked of the value") {
  const auto graph = [](const std::string& outputs, const std::string& more) {
    return "g (double[B,N,4] x, double[4,5] W) => (int64 y, int64 z" + outputs +
           ") <int64 zero = {0}, int64 one = {1}> { r = MatMul (x, W)  s = Shape (r)  y = Gather (s, one)  z = Gather "
           "(s, "
           "zero) " +
           more + " }";
  };
  CHECK(rewritten(sizes_from_inputs, graph("", ""), 14) == "Shape Gather Shape Gather");
  CHECK(declined(sizes_from_inputs, graph(", int64[3] w", "w = Neg (s)"), 14) ==
        "the other sizes are used too; they are not known to be sizes of one input");
}

TEST_CASE("sizes that no input has, that are read there already, and older opsets stay") {
  CHECK(declined(sizes_from_inputs, R"(g (double[B,N,4] x) => (int64[2] y)
    { t = Transpose <perm = [1, 0, 2]> (x)  y = Shape <end = 2> (t) })") ==
        "they are not known to be sizes of one input");
  CHECK(declined(sizes_from_inputs, "g (double[B,N,4] x) => (int64[2] y) { y = Shape <end = 2> (x) }").empty());
  CHECK(declined(sizes_from_inputs, R"(g (double[B,N,4] x, int64[1] m) => (int64[3] y, int64[1] z)
    { a = Shape <end = 1> (x)  b = Shape <start = 1, end = 2> (x)  c = Concat <axis = 0> (a, b)
      y = Concat <axis = 0> (m, c)  z = Mul (a, b) })")
            .starts_with("another Concat takes its parts"));
  CHECK(declined(sizes_from_inputs, R"(g (double[B,N,4] x) => (int64[1] y)
    <int64[1] one = {1}, int64[1] two = {2}> { s = Shape (x)  y = Slice (s, one, two) })",
                 14) == "Shape gives all sizes before opset 15");
  CHECK(declined(sizes_from_inputs, R"(g (double[B,N,4] x, bool c) => (int64[1] y) <int64 k = {0}>
    { y = If (c) <then_branch = a () => (int64[1] u) { r = Relu (x)  u = Shape <end = 1> (r) },
                  else_branch = b () => (int64[1] v) { v = Shape <end = 1> (x) }> })")
            .empty());
}
