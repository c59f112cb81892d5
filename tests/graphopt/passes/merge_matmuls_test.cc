#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_matmuls;
using test::declined;
using test::rewritten;

TEST_CASE("two constant matrices are multiplied where that is less work") {
  CHECK(rewritten(merge_matmuls, R"(g (double[N,2,3] x, double[3,5] A, double[5,4] B) => (double[N,2,4] y)
    { p = MatMul (x, A)  y = MatMul (p, B) })") == "MatMul");
}

TEST_CASE("a bottleneck, shared weights, batches of matrices and a second reader stay") {
  CHECK(declined(merge_matmuls, R"(g (double[N,6] x, double[6,1] A, double[1,6] B) => (double[N,6] y)
    { p = MatMul (x, A)  y = MatMul (p, B) })") == "the product of its constants is more work than both");
  CHECK(declined(merge_matmuls, R"(g (double[N,3] x, double[3,3] A) => (double[N,3] y)
    { p = MatMul (x, A)  y = MatMul (p, A) })") == "a constant is used elsewhere too");
  CHECK(declined(merge_matmuls, R"(g (double[2,N,3] x, double[2,3,3] A, double[3,3] B) => (double[2,N,3] y)
    { p = MatMul (x, A)  y = MatMul (p, B) })") == "its constants are no matrices");
  CHECK(declined(merge_matmuls, R"(g (double[N,3] x, double[3,3] A, double[3,3] B) => (double[N,3] y, double[N,3] p)
    { p = MatMul (x, A)  y = MatMul (p, B) })")
            .find("used elsewhere") != std::string::npos);
}
