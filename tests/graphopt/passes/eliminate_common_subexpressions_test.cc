#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_common_subexpressions;
using test::declined;
using test::rewritten;

TEST_CASE("equal nodes are computed once, chains and bodies included") {
  CHECK(rewritten(eliminate_common_subexpressions, R"(g (double[N] x) => (double[N] y) {
    a = Exp (x)  b = Exp (x)  c = Neg (a)  d = Neg (b)  y = Mul (c, d)
  })") == "Exp Neg Mul");
  CHECK(rewritten(eliminate_common_subexpressions, R"(g (double[N] x, bool c) => (double[N] y) {
    y = If (c) <then_branch = t () => (double[N] p) { a = Exp (x)  b = Exp (x)  p = Mul (a, b) },
                else_branch = e () => (double[N] q) { q = Neg (x) }>
  })") == "If[Exp Mul][Neg]");
  CHECK(rewritten(eliminate_common_subexpressions, R"(g (double[N,4] x) => (double[N,4] y) {
    a, b = Split <axis = 1, num_outputs = 2> (x)  c, d = Split <num_outputs = 2, axis = 1> (x)
    y = Concat <axis = 1> (a, d)
  })") == "Split Concat");
}

TEST_CASE("equal constants, and axes counted from either end, are the same") {
  const auto merged = [](const std::string& a, const std::string& b) {
    return "g (double[N,4] x) => (double[N,1] y) <int64[1] a = {" + a + "}, int64[1] b = {" + b +
           "}> { m = ReduceMean (x, a)  n = ReduceMean (x, b)  y = Mul (m, n) }";
  };
  CHECK(rewritten(eliminate_common_subexpressions, merged("1", "1")) == "ReduceMean Mul");
  CHECK(rewritten(eliminate_common_subexpressions, merged("-1", "1")) == "ReduceMean Mul");
  CHECK(declined(eliminate_common_subexpressions, merged("0", "1")).empty());
}

TEST_CASE("an attribute that says what holds without it makes no difference") {
  const auto two = [](const std::string& attrs) {
    return "g (double[N,4] x) => (double[N,1] y) <int64[1] a = {1}> { m = ReduceMean <" + attrs +
           "> (x, a)  n = ReduceMean (x, a)  y = Mul (m, n) }";
  };
  CHECK(rewritten(eliminate_common_subexpressions, two("keepdims = 1, noop_with_empty_axes = 0")) == "ReduceMean Mul");
  CHECK(declined(eliminate_common_subexpressions, two("noop_with_empty_axes = 1")).empty());
}

TEST_CASE("nodes that differ in an attribute, an input or an omitted output stay") {
  const auto stays = [](const std::string& nodes) {
    return declined(eliminate_common_subexpressions,
                    "g (double[N,4] x, double[N,4] z) => (double[N,4] y) {" + nodes + "}")
        .empty();
  };
  CHECK(stays("a = LeakyRelu <alpha = 0.1> (x)  b = LeakyRelu <alpha = 0.2> (x)  y = Mul (a, b)"));
  CHECK(stays("a = Exp (x)  b = Exp (z)  y = Mul (a, b)"));
  CHECK(stays("a = Sub (x, z)  b = Sub (z, x)  y = Mul (a, b)"));
}

TEST_CASE("random, quantized, unknown and output nodes stay") {
  CHECK(declined(eliminate_common_subexpressions, R"(g (float[N] x) => (float[N] y)
    { a = RandomNormalLike (x)  b = RandomNormalLike (x)  y = Add (a, b) })")
            .empty());
  CHECK(declined(eliminate_common_subexpressions, R"(g (uint8[N] x) => (float[N] y) <float s = {0.5}>
    { a = DequantizeLinear (x, s)  b = DequantizeLinear (x, s)  y = Add (a, b) })")
            .empty());
  CHECK(declined(eliminate_common_subexpressions, R"(g (float[N] x) => (float[N] y)
    { a = local.next (x)  b = local.next (x)  y = Add (a, b) })")
            .empty());
  CHECK(declined(eliminate_common_subexpressions,
                 "g (double[N] x) => (double[N] y, double[N] z) { y = Exp (x)  z = Exp (x) }")
            .empty());
}

TEST_CASE("an output may stand for an inner twin") {
  CHECK(rewritten(eliminate_common_subexpressions, R"(g (double[N] x) => (double[N] y, double[N] z)
    { y = Exp (x)  a = Exp (x)  z = Neg (a) })") == "Exp Neg");
}
