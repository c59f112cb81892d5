#include <fmt/core.h>

#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_steps;
using test::declined;
using test::rewritten;

namespace {

/// x -> o, with nodes in which # is the step, three times, and what joins t0, t1 and t2.
std::string graph(const std::string& shape, const std::string& step, const std::string& join,
                  const std::string& before = "") {
  std::string text = "g (double[" + shape +
                     "] x) => (double[P,Q,R] o) <int64 k0 = {0}, int64 k1 = {1}, int64 k2 = {2}, "
                     "int64[1] zero = {0}, int64[1] one = {1}, int64[1] last = {-1}, int64[2] flat = {0, -1}, "
                     "double[4,5] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2}, "
                     "double[2,3,1,1] f = {1, 2, 3, 4, 5, 6}> { " +
                     before;
  for (const char place : {'0', '1', '2'})
    for (const char c : step) text += c == '#' ? place : c;
  return text + join + " }";
}

const std::string kStack = "u0 = Unsqueeze (t0, one) u1 = Unsqueeze (t1, one) u2 = Unsqueeze (t2, one) ";
const std::string kTaken = "p# = Gather <axis = 1> (x, k#) ";

}  // namespace

TEST_CASE("steps of time are computed at once, as so many more samples") {
  const std::string step = kTaken + "m# = MatMul (p#, w) t# = Relu (m#) ";
  CHECK(rewritten(merge_steps, graph("N,3,4", step, kStack + "o = Concat <axis = 1> (u0, u1, u2)")) ==
        "Reshape MatMul Relu Reshape");
  CHECK(rewritten(merge_steps, graph("N,3,4", step, kStack + "c = Concat <axis = 1> (u0, u1, u2) o = Neg (c)")) ==
        "Reshape MatMul Relu Reshape Neg");
}

TEST_CASE("the new axis and the old one may lie anywhere") {
  const std::string relu = "t# = Relu (p#) ";
  const std::string stack = "u0 = Unsqueeze (t0, zero) u1 = Unsqueeze (t1, zero) u2 = Unsqueeze (t2, zero) ";
  CHECK(rewritten(merge_steps, graph("N,3,4", kTaken + relu, stack + "o = Concat <axis = 0> (u0, u1, u2)")) ==
        "Reshape Relu Reshape Transpose");
  CHECK(rewritten(merge_steps, graph("N,4,3", "p# = Gather <axis = 2> (x, k#) " + relu,
                                     "u0 = Unsqueeze (t0, last) u1 = Unsqueeze (t1, last) u2 = Unsqueeze (t2, last) "
                                     "o = Concat <axis = -1> (u0, u1, u2)")) ==
        "Transpose Reshape Relu Reshape Transpose");
  CHECK(rewritten(merge_steps, graph("3,N,4", "p# = Gather <axis = 0> (x, k#) " + relu,
                                     stack + "o = Concat <axis = 0> (u0, u1, u2)")) == "Reshape Relu Reshape");
}

TEST_CASE("ends are joined along an axis of theirs") {
  CHECK(rewritten(merge_steps, graph("N,3,4", kTaken + "t# = Exp (p#) ",
                                     "c = Concat <axis = 1> (t0, t1, t2) o = Unsqueeze (c, one)")) ==
        "Reshape Exp Reshape Reshape Unsqueeze");
  CHECK(rewritten(merge_steps, graph("3,N,4", "p# = Gather <axis = 0> (x, k#) t# = Exp (p#) ",
                                     "c = Concat <axis = 0> (t0, t1, t2) o = Unsqueeze (c, one)")) ==
        "Reshape Exp Unsqueeze");
}

TEST_CASE("parts of several places each, and samples one by one") {
  const std::string join = "c = Concat <axis = 1> (t0, t1, t2) o = Unsqueeze (c, one)";
  CHECK(rewritten(merge_steps,
                  graph("N,12", "t# = MatMul (p#, w) ", join, "p0, p1, p2 = Split <axis = 1, num_outputs = 3> (x) ")) ==
        "Reshape Reshape MatMul Reshape Reshape Unsqueeze");
  CHECK(rewritten(merge_steps,
                  graph("3,4", "t# = MatMul (p#, w) ", "c = Concat <axis = 0> (t0, t1, t2) o = Unsqueeze (c, one)",
                        "p0, p1, p2 = Split <axis = 0, num_outputs = 3> (x) ")) == "MatMul Unsqueeze");
}

TEST_CASE("images of a film, with layouts inside") {
  CHECK(rewritten(merge_steps, graph("N,3,3,4,4",
                                     kTaken + "c# = Conv (p#, f) r# = Relu (c#) g# = GlobalAveragePool "
                                              "(r#) h# = Reshape (g#, flat) t# = Softmax (h#) ",
                                     kStack + "o = Concat <axis = 1> (u0, u1, u2)")) ==
        "Reshape Conv Relu GlobalAveragePool Reshape Softmax Reshape");
}

TEST_CASE("two values that are taken apart alike") {
  CHECK(rewritten(merge_steps, graph("N,3,4", kTaken + "q# = Gather <axis = 1> (z, k#) t# = Mul (p#, q#) ",
                                     kStack + "o = Concat <axis = 1> (u0, u1, u2)", "z = Sin (x) ")) ==
        "Sin Reshape Reshape Mul Reshape");
}

TEST_CASE("steps in another order, of which one differs or that others read stay") {
  const std::string relu = kTaken + "t# = Relu (p#) ";
  CHECK(declined(merge_steps, graph("N,3,4", relu, kStack + "o = Concat <axis = 1> (u1, u0, u2)")).empty());
  CHECK(declined(merge_steps, graph("N,4,4", relu, kStack + "o = Concat <axis = 1> (u0, u1, u2)")).empty());
  CHECK(declined(merge_steps, graph("N,3,4", kTaken + "t# = Identity (p#) ",
                                    kStack + "v = Neg (u2) o = Concat <axis = 1> (u0, u1, v)"))
            .empty());
  CHECK(declined(merge_steps, graph("N,3,4", relu,
                                    kStack + "v = Neg (t1) c = Concat <axis = 1> (u0, u1, u2) "
                                             "s = Unsqueeze (v, one) o = Add (c, s)")) ==
        "something else reads what a step computes");
}

TEST_CASE("what only moves elements stays, as do the first opsets") {
  CHECK(declined(merge_steps,
                 graph("N,3,4", kTaken + "t# = Reshape (p#, flat) ", kStack + "o = Concat <axis = 1> (u0, u1, u2)"))
            .empty());
  CHECK(declined(merge_steps, R"(g (double[N,2,4] x) => (double[N,8] o) <int64 k0 = {0}, int64 k1 = {1}>
    { p = Gather <axis = 1> (x, k0)  q = Gather <axis = 1> (x, k1)  a = Relu (p)  b = Relu (q)
      o = Concat <axis = 1> (a, b) })",
                 6)
            .empty());
}

TEST_CASE("what mixes the steps stays where a lane has one sample too") {
  const std::string parts = "p0, p1, p2 = Split <axis = 1, num_outputs = 3> (x) ";
  const std::string turned = "q# = Transpose <perm = [1, 0, 2]> (p#) r# = Softmax <axis = 1> (q#) t# = Tanh (r#) ";
  CHECK(declined(merge_steps, graph("1,3,4", turned, "o = Concat <axis = 0> (t0, t1, t2)", parts)) ==
        "a step mixes samples, or may: Transpose");
}
