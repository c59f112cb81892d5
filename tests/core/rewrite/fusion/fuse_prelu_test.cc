#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// y = relu(x) and what `rest` adds to it.
std::string graph(const std::string& rest, const std::string& slopes = "double[3,1,1] C",
                  const std::string& end = "Add (r, s)") {
  return "g (double[B,3,5,5] x, double[B,3,5,5] z, " + slopes +
         ") => (double[B,3,5,5] y) <double half = {0.5}, double zero = {0}, double slope = {-0.25}> { r = Relu (x)  " +
         rest + "  y = " + end + " }";
}

}  // namespace

TEST_CASE("slopes for negative values are PRelu's however they are spelt") {
  for (const char* rest :
       {"n = Neg (x)  m = Relu (n)  s = Mul (C, m)", "m = Min (zero, x)  s = Mul (m, C)",
        "m = Clip (x, , zero)  s = Mul (m, C)", "a = Abs (x)  d = Sub (x, a)  p = Mul (d, C)  s = Mul (p, half)"}) {
    INFO(rest);
    CHECK(rewritten(fusion::fuse_prelu, graph(rest)) == "PRelu");
    CHECK(rewritten(fusion::fuse_prelu, graph(rest, "double[3,1,1] C", "Sub (r, s)")) == "PRelu");
  }
  CHECK(rewritten(fusion::fuse_prelu, graph("n = Neg (x)  m = Relu (n)  s = Mul (slope, m)"), 21, 1e-7) == "LeakyRelu");
}

TEST_CASE("the negative part of another value, slopes that are computed, and two of them stay") {
  const std::string other = "what is added is not the negative part of the same value times a constant";
  CHECK(declined(fusion::fuse_prelu, graph("n = Neg (z)  m = Relu (n)  s = Mul (C, m)")) == other);
  CHECK(declined(fusion::fuse_prelu, graph("m = Min (half, x)  s = Mul (C, m)")) == other);
  CHECK(declined(fusion::fuse_prelu, graph("m = Clip (x, zero, zero)  s = Mul (C, m)")) == other);
  CHECK(declined(fusion::fuse_prelu, graph("a = Abs (z)  d = Sub (x, a)  s = Mul (d, C)")) == other);
  CHECK(declined(fusion::fuse_prelu, graph("m = Min (zero, x)  s = Mul (c, m)", "double[3,1,1] c")) == other);
  CHECK(declined(fusion::fuse_prelu, graph("m = Min (zero, x)  p = Mul (C, m)  s = Mul (p, D)",
                                           "double[3,1,1] C, double[3,1,1] D")) == other);
  CHECK(declined(fusion::fuse_prelu, graph("m = Min (zero, x)  s = Mul (C, m)", "double[3,1,1] C", "Sub (s, r)"))
            .empty());
}

TEST_CASE("PRelu repeats slopes, not what they are for, and broadcasts since opset 9") {
  CHECK(declined(fusion::fuse_prelu, R"(g (double[N,1] x, double[4] C) => (double[N,4] y)
    { r = Relu (x)  n = Neg (x)  m = Relu (n)  s = Mul (C, m)  y = Sub (r, s) })") ==
        "the slopes have more axes than what they are for");
  CHECK(declined(fusion::fuse_prelu, graph("n = Neg (x)  m = Relu (n)  s = Mul (C, m)"), 8) == "PRelu needs opset 9");
}

TEST_CASE("slopes that are not finite stay, of which zeros make NaN") {
  const std::string reason = "zeros times its slopes are not zero";
  for (const std::string bad : {"inf", "nan"}) {
    CHECK(declined(fusion::fuse_prelu, "g (float[3] x) => (float[3] y) <float c = {" + bad + R"(}, float z = {0}>
      { r = Relu (x)  m = Min (x, z)  s = Mul (m, c)  y = Add (r, s) })") == reason);
    CHECK(declined(fusion::fuse_prelu, "g (float[3] x) => (float[3] y) <float[3] c = {1, 2, " + bad + R"(}>
      { r = Relu (x)  n = Neg (x)  m = Relu (n)  s = Mul (m, c)  y = Sub (r, s) })") == reason);
  }
}

TEST_CASE("a slope that adds an axis stays") {
  CHECK_FALSE(declined(fusion::fuse_prelu, R"(g (double x) => (double[1] y) <double[1] c = {0.5}>
    { r = Relu (x)  n = Neg (x)  m = Relu (n)  s = Mul (c, m)  y = Add (r, s) })")
                  .empty());
}

TEST_CASE("slopes of bfloat16 need a newer PRelu") {
  CHECK(declined(fusion::fuse_prelu, R"(g (bfloat16[N] x, bfloat16 C) => (bfloat16[N] y)
    { r = Relu (x)  n = Neg (x)  m = Relu (n)  s = Mul (C, m)  y = Sub (r, s) })",
                 15) == "LeakyRelu and PRelu of bfloat16 need opset 16");
}
