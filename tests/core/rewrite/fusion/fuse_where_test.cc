#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& sum, const std::string& opposite = "Not (c)") {
  return "g (bool[B,1] c, bool[B,1] d, double[N] a, double[B,N] b) => (double[B,N] y) { n = " + opposite +
         "  f = Cast <to = 11> (c)  g = Cast <to = 11> (n)  " + sum + " }";
}

}  // namespace

TEST_CASE("a value for a condition plus one for its opposite is a choice") {
  for (const char* sum :
       {"p = Mul (f, a)  q = Mul (g, b)  y = Add (p, q)", "p = Mul (a, f)  q = Mul (b, g)  y = Add (q, p)"})
    CHECK(rewritten(fusion::fuse_where, graph(sum)) == "Where");
}

TEST_CASE("several choices may share what stands for the opposite") {
  CHECK(rewritten(fusion::fuse_where,
                  graph("p = Mul (f, a)  q = Mul (g, b)  r = Add (p, q)  s = Neg (q)  y = Add (r, s)")) ==
        "Not Cast Mul Where Neg Add");
}

TEST_CASE("two conditions, a product that is used elsewhere, and opsets without Where stay") {
  const std::string sum = "p = Mul (f, a)  q = Mul (g, b)  y = Add (p, q)";
  CHECK(declined(fusion::fuse_where, graph(sum, "Not (d)")).empty());
  CHECK(declined(fusion::fuse_where, graph(sum, "And (c, d)")).empty());
  CHECK(declined(fusion::fuse_where,
                 graph("p = Mul (f, a)  q = Mul (g, b)  r = Add (p, q)  s = Add (r, p)  y = Add (s, q)")) ==
        "both products are used elsewhere too");
  CHECK(declined(fusion::fuse_where, graph(sum), 8) == "Where needs opset 9, of bfloat16 16");
}

TEST_CASE("bfloat16 needs a newer Where") {
  const std::string sum =
      "g (bfloat16[3] x, bfloat16[3] w, bool[3] c) => (bfloat16[3] y) { n = Not (c)  a = Cast <to = 16> (c)  b = Cast "
      "<to = 16> (n)  p = Mul (a, x)  q = Mul (b, w)  y = Add (p, q) }";
  CHECK(declined(fusion::fuse_where, sum, 15) == "Where needs opset 9, of bfloat16 16");
}
