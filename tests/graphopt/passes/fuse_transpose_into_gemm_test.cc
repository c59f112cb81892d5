#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fuse_transpose_into_gemm;
using test::declined;
using test::rewritten;

TEST_CASE("Gemm transposes its operands itself, once or back again") {
  CHECK(rewritten(fuse_transpose_into_gemm, R"(g (double[3,N] x, double[4,3] w, double[4] B) => (double[N,4] y)
    { a = Transpose <perm = [1, 0]> (x)  b = Transpose (w)  y = Gemm <alpha = 0.5> (a, b, B) })") == "Gemm");
  CHECK(rewritten(fuse_transpose_into_gemm, R"(g (double[N,3] x, double[3,4] W) => (double[N,4] y)
    { a = Transpose (x)  y = Gemm <transA = 1> (a, W) })") == "Gemm");
}

TEST_CASE("a Transpose that others read stays for them") {
  CHECK(rewritten(fuse_transpose_into_gemm, R"(g (double[3,N] x, double[3,4] W) => (double[N,4] y, double[N,3] z)
    { a = Transpose (x)  z = Neg (a)  y = Gemm (a, W) })") == "Transpose Neg Gemm");
}

TEST_CASE("Gemm without Transpose, and a Transpose that keeps the axes, stay") {
  CHECK(declined(fuse_transpose_into_gemm, "g (double[N,3] x, double[3,4] W) => (double[N,4] y) { y = Gemm (x, W) }")
            .empty());
  CHECK(declined(fuse_transpose_into_gemm, R"(g (double[N,3] x, double[3,4] W) => (double[N,4] y)
    { a = Transpose <perm = [0, 1]> (x)  y = Gemm (a, W) })") == "its Transpose does more than swap two axes");
}
