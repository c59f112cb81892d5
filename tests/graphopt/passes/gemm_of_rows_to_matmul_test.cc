#include <limits>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::gemm_of_rows_to_matmul;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& gemm = "Gemm <transB = 1> (a, W, C)", const std::string& end = "Reshape (g, t)") {
  return "g (double[B,5,6] x, double[8,6] W, double[8] C) => (double[B,5,8] y) <int64[2] s = {-1, 6}, "
         "int64[3] t = {-1, 5, 8}> { a = Reshape (x, s)  g = " +
         gemm + "  y = " + end + " }";
}

}  // namespace

TEST_CASE("rows that are flattened for a Gemm are multiplied as they are") {
  CHECK(rewritten(gemm_of_rows_to_matmul, graph()) == "MatMul Add");
  CHECK(rewritten(gemm_of_rows_to_matmul, graph("Gemm <transB = 1> (a, W)")) == "MatMul");
}

TEST_CASE("so are rows of MatMul, and those that several products share") {
  CHECK(rewritten(gemm_of_rows_to_matmul, R"(g (double[B,5,6] x, double[6,8] w) => (double[B,5,8] y)
    <int64[2] s = {-1, 6}, int64[3] t = {-1, 5, 8}>
    { a = Reshape (x, s)  g = MatMul (a, w)  y = Reshape (g, t) })") == "MatMul");
  CHECK(rewritten(gemm_of_rows_to_matmul, R"(g (double[B,5,6] x, double[6,8] W) => (double[B,5,8] y)
    <int64[2] s = {-1, 6}, int64[3] t = {-1, 5, 8}>
    { a = Reshape (x, s)  g = MatMul (a, W)  y = Reshape (g, t) })") == "MatMul");
  CHECK(rewritten(gemm_of_rows_to_matmul,
                  R"(g (double[B,5,6] x, double[6,8] W, double[8,6] V) => (double[B,5,8] y, double[B,5,8] z)
    <int64[2] s = {-1, 6}, int64[3] t = {-1, 5, 8}>
    { a = Reshape (x, s)  g = MatMul (a, W)  y = Reshape (g, t)
      h = Gemm <transB = 1, beta = 0.0> (a, V)  z = Reshape (h, t) })") == "MatMul MatMul");
  CHECK(declined(gemm_of_rows_to_matmul,
                 R"(g (double[B,5,6] x, double[6,8] W, double[8] C) => (double[B,5,8] y, double[Q,6] z)
    <int64[2] s = {-1, 6}, int64[3] t = {-1, 5, 8}>
    { a = Reshape (x, s)  g = Gemm (a, W, C)  y = Reshape (g, t)  z = Relu (a) })") ==
        "that would be no fewer operators");
}

TEST_CASE("rows that are in another order before and after stay in theirs") {
  CHECK(rewritten(gemm_of_rows_to_matmul, R"(g (double[B,2,5,3] x, double[6,8] W, double[8] C) => (double[B,5,8] y)
    <int64[2] s = {-1, 6}, int64[3] t = {5, -1, 8}>
    { p = Transpose <perm = [2, 0, 1, 3]> (x)  a = Reshape (p, s)  g = Gemm (a, W, C)  r = Reshape (g, t)
      y = Transpose <perm = [1, 0, 2]> (r) })") == "Transpose Reshape MatMul Add");
}

TEST_CASE("rows are multiplied where they come from when their columns are parted behind the product") {
  CHECK(rewritten(gemm_of_rows_to_matmul, R"(g (double[B,5,6] x, double[6,8] W) => (double[B,5,2,4] y)
    <int64[2] s = {-1, 6}, int64[4] t = {-1, 5, 2, 4}>
    { a = Reshape (x, s)  g = Gemm (a, W)  y = Reshape (g, t) })") == "MatMul Reshape");
  // As three projections of attention: equal for each of them, but the Reshape that they share goes.
  CHECK(rewritten(gemm_of_rows_to_matmul,
                  R"(g (double[B,5,6] x, double[6,8] W, double[8,6] V) => (double[B,5,2,4] y, double[B,5,4,2] z)
    <int64[2] s = {-1, 6}, int64[4] t = {-1, 5, 2, 4}, int64[4] u = {-1, 5, 4, 2}>
    { a = Reshape (x, s)  g = MatMul (a, W)  y = Reshape (g, t)
      h = Gemm <transB = 1> (a, V)  z = Reshape (h, u) })") == "MatMul Reshape MatMul Reshape");
  CHECK(rewritten(gemm_of_rows_to_matmul, R"(g (double[B,5,6] x, double[6,8] W) => (double[B,8,1,5] y)
    <int64[2] s = {-1, 6}, int64[4] t = {-1, 5, 8, 1}>
    { a = Reshape (x, s)  g = Gemm (a, W)  r = Reshape (g, t)  y = Transpose <perm = [0, 2, 3, 1]> (r) })") ==
        "MatMul Reshape Transpose");
}

TEST_CASE("a weight that several layers turn is turned for each of them") {
  const auto layers = [](const std::string& second) {
    return "g (double[B,5,6] x, double[6,6] W) => (double[B,5,6] y) <int64[2] s = {-1, 6}, int64[3] t = {-1, 5, 6}> { "
           "a = Reshape (x, s)  g = Gemm <transB = 1> (a, W)  r = Reshape (g, t)  n = Relu (r)  b = Reshape (n, s)  h "
           "= " +
           second + " (b, W)  y = Reshape (h, t) }";
  };
  CHECK(rewritten(gemm_of_rows_to_matmul, layers("Gemm <transB = 1>")) == "MatMul Relu MatMul");
  CHECK(rewritten(gemm_of_rows_to_matmul, layers("Gemm")) == "Reshape Gemm Reshape Relu MatMul");
}

TEST_CASE("a weight is turned whatever its numbers are") {
  constexpr double kSubnormal = 1e-42;  // in float32
  for (const double number : {std::numeric_limits<double>::infinity(), kSubnormal}) {
    Model model = test::fixture(
        "g (float[2,3,8] x, float[4,8] W) => (float[2,3,4] y) <int64[2] s = {6, 8}, "
        "int64[3] t = {2, 3, 4}> { a = Reshape (x, s)  b = Gemm <transB = 1> (a, W)  "
        "y = Reshape (b, t) }");
    std::vector<double> numbers(32, kSubnormal);
    numbers[0] = number;
    model.graph->find("W")->constant = cast(Tensor::of<double>({4, 8}, numbers), DType::kF32);
    CHECK(rewritten(gemm_of_rows_to_matmul, model) == "MatMul");
  }
}

TEST_CASE("a Gemm stays where it is scaled, where it is read as a matrix too") {
  CHECK(declined(gemm_of_rows_to_matmul, graph("Gemm <transB = 1, alpha = 2.0> (a, W, C)")) ==
        "its product is scaled or turned");
  CHECK(declined(gemm_of_rows_to_matmul, R"(g (double[B,30] x, double[6,8] W) => (double[B,5,2,4] y)
    <int64[2] s = {-1, 6}, int64[4] t = {-1, 5, 2, 4}>
    { a = Reshape (x, s)  g = Gemm (a, W)  y = Reshape (g, t) })") == "its columns move, or the axes are not known");
  CHECK(declined(gemm_of_rows_to_matmul, R"(g (double[B,5,6] x, double[6,8] W) => (double[B,5,8] y, double[Q,8] z)
    <int64[2] s = {-1, 6}, int64[3] t = {-1, 5, 8}>
    { a = Reshape (x, s)  g = Gemm (a, W)  y = Reshape (g, t)  z = Relu (g) })")
            .empty());
  CHECK(declined(gemm_of_rows_to_matmul, R"(g (double[B,5,6] x, double[6,8] W, double[5,8] C) => (double[1,5,8] y)
    <int64[2] s = {5, 6}, int64[3] t = {1, 5, 8}>
    { a = Reshape (x, s)  g = Gemm (a, W, C)  y = Reshape (g, t) })") == "its bias is no row");
}

TEST_CASE("columns of length 1 are not told from other such axes") {
  CHECK(declined(gemm_of_rows_to_matmul, R"(g (double[N,1,1] x, double[1,4] W) => (double[N,4,1] y)
    { a = Transpose <perm = [0, 2, 1]> (x)  m = MatMul (a, W)  y = Transpose <perm = [0, 2, 1]> (m) })") ==
        "its columns move, or the axes are not known");
}
