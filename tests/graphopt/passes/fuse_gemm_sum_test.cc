#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fuse_gemm_sum;
using test::declined;
using test::rewritten;

TEST_CASE("Gemm adds what is added to it") {
  CHECK(rewritten(fuse_gemm_sum, R"(g (double[N,3] x, double[3,4] W, double[N,4] z) => (double[N,4] y)
    { p = Gemm <alpha = 0.5> (x, W)  y = Add (z, p) })") == "Gemm");
  CHECK(rewritten(fuse_gemm_sum, R"(g (double[N,3] x, double[3,4] W, double[1] z) => (double[N,4] y)
    { p = Gemm (x, W)  y = Add (p, z) })") == "Gemm");
}

TEST_CASE("a summand that broadcasts the other way, or that Gemm has already, stays") {
  CHECK(declined(fuse_gemm_sum, R"(g (double[1,3] x, double[3,4] W, double[N,4] z) => (double[N,4] y)
    { p = Gemm (x, W)  y = Add (p, z) })") == "its summand does not provably broadcast to the product");
  CHECK(declined(fuse_gemm_sum, R"(g (double[N,3] x, double[3,4] W, double[2,N,4] z) => (double[2,N,4] y)
    { p = Gemm (x, W)  y = Add (p, z) })") == "the shape of its summand is not known");
  CHECK(declined(fuse_gemm_sum, R"(g (double[N,3] x, double[3,4] W, double[4] B, double[N,4] z) => (double[N,4] y)
    { p = Gemm (x, W, B)  y = Add (p, z) })")
            .empty());
}
