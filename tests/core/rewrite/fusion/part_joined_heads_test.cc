#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// Two heads of 3 whose batch and heads are one axis, with what comes between the two products.
std::string graph(const std::string& scores, const std::string& inputs = "", const std::string& end = "") {
  return "g (double[B,N,6] q, double[B,M,6] k, double[B,M,6] v" + inputs +
         ") => (double[B,N,6] y) <int64[4] split = {0, 0, 2, 3}, int64[3] heads = {0, -1, 6}, int64[1] three = {3}, "
         "int64[4] part = {-1, 2, 0, 3}, double half = {0.5}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = "
         "{2}> { q4 = Reshape (q, split)  k4 = Reshape (k, split)  v4 = Reshape (v, split)  qt = Transpose <perm = [0, "
         "2, 1, 3]> (q4)  kt = Transpose <perm = [0, 2, 3, 1]> (k4)  vt = Transpose <perm = [0, 2, 1, 3]> (v4)  b = "
         "Shape <end = 1> (q)  n = Shape <start = 1, end = 2> (q)  m = Shape <start = 1, end = 2> (k)  h = Mul (b, "
         "two) "
         " qs = Concat <axis = 0> (h, n, three)  ks = Concat <axis = 0> (h, three, m)  vs = Concat <axis = 0> (h, m, "
         "three)  q3 = Reshape (qt, qs)  k3 = Reshape (kt, ks)  v3 = Reshape (vt, vs) " +
         scores + "  w = Softmax <axis = -1> (s)  o = MatMul (w, v3)  ps = Concat <axis = 0> (b, two, n, three)  p = " +
         "Reshape (o, ps)  t = Transpose <perm = [0, 2, 1, 3]> (p)  y = Reshape (t, heads) " + end + " }";
}

}  // namespace

TEST_CASE("matrices whose batch and heads are one axis are parted") {
  const std::string parted =
      "Reshape Reshape Reshape Transpose Transpose Transpose MatMul Mul Softmax MatMul Transpose Reshape";
  const auto sorted_count = [](const std::string& operators) {
    return std::count(operators.begin(), operators.end(), ' ');
  };
  const std::string plain = rewritten(fusion::part_joined_heads, graph("p0 = MatMul (q3, k3)  s = Mul (p0, half)"));
  CHECK(plain.find("Concat") == std::string::npos);
  CHECK(sorted_count(plain) == sorted_count(parted));
  const std::string before = rewritten(fusion::part_joined_heads, graph("q2 = Mul (q3, half)  s = MatMul (q2, k3)"));
  CHECK(sorted_count(before) == sorted_count(parted));
  CHECK(before.find("Concat") == std::string::npos);
}

TEST_CASE("a mask of all matrices stays as it is") {
  const std::string masked =
      rewritten(fusion::part_joined_heads, graph("p0 = MatMul (q3, k3)  s = Add (p0, z)", ", double[1,N,M] z"));
  CHECK(masked.find("Concat") == std::string::npos);
}

TEST_CASE("a mask of each matrix, other axes and further readers keep them joined") {
  CHECK(declined(fusion::part_joined_heads, graph("p0 = MatMul (q3, k3)  e = Mul (half, p0)  s = Add (p0, e)")) ==
        "an operator takes batch and heads as one axis");
  CHECK(declined(fusion::part_joined_heads, graph("p0 = MatMul (q3, k3)  s = Exp (p0)")) ==
        "an operator takes batch and heads as one axis");
  CHECK(
      declined(fusion::part_joined_heads, R"(g (double[J,N,3] q, double[J,3,M] k, double[J,M,3] v) => (double[N,J,3] y)
    { s = MatMul (q, k)  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  y = Transpose <perm = [1, 0, 2]> (o) })")
          .empty());
}
