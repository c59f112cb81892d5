#include "quantize/delay_transpose.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using mlopt::quantize::delay_transpose;
using mlopt::test::declined;
using mlopt::test::rewritten;

TEST_CASE("a Transpose that leaves the last axis alone comes after the product with a matrix") {
  CHECK(rewritten(delay_transpose, R"(g (double[N,M,4] x, double[4,6] W) => (double[M,N,6] y)
    { t = Transpose <perm = [1, 0, 2]> (x)  y = MatMul (t, W) })") == "MatMul Transpose");
  CHECK(rewritten(delay_transpose, R"(g (double[N,2,3,4] x, double[4,6] W) => (double[2,3,N,6] y)
    { t = Transpose <perm = [1, 2, 0, 3]> (x)  y = MatMul (t, W) })") == "MatMul Transpose");
}

TEST_CASE("a Transpose stays before a product that it decides") {
  const std::string last = "it moves the last axis";
  CHECK(declined(delay_transpose, R"(g (double[N,4,M] x, double[4,6] W) => (double[N,M,6] y)
    { t = Transpose <perm = [0, 2, 1]> (x)  y = MatMul (t, W) })") == last);
  CHECK(declined(delay_transpose, R"(g (double[4,N] x, double[4,6] W) => (double[N,6] y)
    { t = Transpose (x)  y = MatMul (t, W) })") == last);
  CHECK(declined(delay_transpose, R"(g (double[N,2,4] x, double[2,4,6] W) => (double[2,N,6] y)
    { t = Transpose <perm = [1, 0, 2]> (x)  y = MatMul (t, W) })") == "its weight is no matrix");
}
