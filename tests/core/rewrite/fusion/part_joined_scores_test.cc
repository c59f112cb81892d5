#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// Scores of two heads of 3 whose batch and heads are one axis, parted by `end` for a softmax of four axes.
std::string graph(const std::string& scores,
                  const std::string& end = "p = Reshape (s, ps)  y = Softmax <axis = -1> (p)",
                  const std::string& outputs = "double[B,2,N,M] y") {
  return "g (double[B,N,6] q, double[B,M,6] k, double[H,N,M] z) => (" + outputs +
         ") <int64[4] split = {0, 0, 2, 3}, int64[1] three = {3}, int64[1] two = {2}> "
         "{ q4 = Reshape (q, split)  k4 = Reshape (k, split)  qt = Transpose <perm = [0, 2, 1, 3]> (q4)  kt = "
         "Transpose <perm = [0, 2, 3, 1]> (k4)  b = Shape <end = 1> (q)  n = Shape <start = 1, end = 2> (q)  m = Shape "
         "<start = 1, end = 2> (k)  h = Mul (b, two)  qs = Concat <axis = 0> (h, n, three)  ks = Concat <axis = 0> (h, "
         "three, m)  ps = Concat <axis = 0> (b, two, n, m)  q3 = Reshape (qt, qs)  k3 = Reshape (kt, ks) " +
         scores + "  " + end + " }";
}

}  // namespace

TEST_CASE("scores for a softmax of four axes are made with four") {
  CHECK(rewritten(fusion::part_joined_scores, graph("s = MatMul (q3, k3)")) ==
        "Reshape Reshape Transpose Transpose MatMul Softmax");
}

TEST_CASE("scores stay as they are where others read them, or where something takes no other axes") {
  CHECK(declined(fusion::part_joined_scores,
                 graph("s = MatMul (q3, k3)", "p = Reshape (s, ps)  y = Softmax <axis = -1> (p)  t = Exp (s)",
                       "double[B,2,N,M] y, double[H,N,M] t"))
            .empty());
  CHECK(declined(fusion::part_joined_scores, graph("p0 = MatMul (q3, k3)  s = Add (p0, z)")) ==
        "an operator takes batch and heads as one axis");
  CHECK(declined(fusion::part_joined_scores,
                 graph("p0 = MatMul (q3, k3)  s = CumSum (p0, zero)  zero = Constant <value = "
                       "int64 {0}> ()")) == "an operator takes batch and heads as one axis");
}

TEST_CASE("a Reshape that does more than to part batch and heads is none of scores") {
  CHECK(declined(fusion::part_joined_scores,
                 graph("s = MatMul (q3, k3)",
                       "os = Concat <axis = 0> (b, two, m, n)  p = Reshape (s, os)  y = Softmax "
                       "<axis = -1> (p)",
                       "double[B,2,M,N] y"))
            .empty());
}
