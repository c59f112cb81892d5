#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_affine_into_matmul;
using test::declined;
using test::rewritten;

TEST_CASE("factors beside a MatMul go into its weight") {
  const std::string types =
      "g (double[N,2,3] x, double[3,4] W, double[4] B, double[1,4] C, double[1] D) => (double[N,2,4] y) ";
  for (const std::string ops : {"p = MatMul (x, W)  y = Mul (C, p)", "p = MatMul (x, W)  y = Div (p, D)",
                                "a = Mul (x, D)  y = MatMul (a, W)", "a = Div (x, D)  y = MatMul (a, W)"})
    CHECK(rewritten(fold_affine_into_matmul, types + "{ " + ops + " }") == "MatMul");
  for (const std::string ops :
       {"p = MatMul (x, W)  s = Add (B, p)  y = Mul (s, D)", "p = MatMul (x, W)  s = Add (p, B)  y = Div (s, C)"})
    CHECK(rewritten(fold_affine_into_matmul, types + "{ " + ops + " }") == "MatMul Add");
}

TEST_CASE("BatchNormalization of a product of matrices becomes Gemm") {
  CHECK(rewritten(fold_affine_into_matmul,
                  R"(g (double[N,3] x, double[3,4] W, double[4] S, double[4] T, double[4] M, double[4] V)
    => (double[N,4] y) { p = MatMul (x, W)  y = BatchNormalization (p, S, T, M, V) })") == "Gemm");
}

TEST_CASE("BatchNormalization of the joined rows of a product goes into its weight and a summand") {
  const auto graph = [](const std::string& sizes, const std::string& channels, const std::string& y) {
    const std::string each = "double[" + channels + "] ";
    return "g (double[N,2,3] x, double[3,4] W, " + each + "S, " + each + "T, " + each + "M, " + each + "V) => (double" +
           y + " y) <int64[2] s = {" + sizes +
           "}> { p = MatMul (x, W)  r = Reshape (p, s)  y = BatchNormalization (r, S, T, M, V) }";
  };
  CHECK(rewritten(fold_affine_into_matmul, graph("-1, 4", "4", "[M,4]")) == "MatMul Add Reshape");
  CHECK(rewritten(fold_affine_into_matmul, R"(g (double[N,2,3] x, double[3,4] W, double[4] S, double[4] T, double[4] M,
      double[4] V) => (double[R,4] y)
    { p = MatMul (x, W)  r = Flatten <axis = 2> (p)  y = BatchNormalization (r, S, T, M, V) })") ==
        "MatMul Add Flatten");
  CHECK(declined(fold_affine_into_matmul, graph("-1, 2", "2", "[M,2]")) ==
        "its channels are no columns of the product");
  CHECK(declined(fold_affine_into_matmul, R"(g (double[2,2,3] x, double[3,4] W, double[4] S, double[4] T, double[4] M,
      double[4] V) => (double[1,4,4] y) <int64[3] s = {1, 4, 4}>
    { p = MatMul (x, W)  r = Reshape (p, s)  y = BatchNormalization (r, S, T, M, V) })") ==
        "its channels are no columns of the product");
}

TEST_CASE("factors by row, shared weights and products that others read stay") {
  const auto graph = [](const std::string& ops, const std::string& y = "double[2,4] y") {
    return "g (double[2,3] x, double[3,4] W, double[2,1] R, double[3] K) => (" + y + ") { " + ops + " }";
  };
  CHECK(declined(fold_affine_into_matmul, graph("p = MatMul (x, W)  y = Mul (p, R)")) ==
        "its constant is not by column");
  CHECK(declined(fold_affine_into_matmul, graph("a = Mul (x, K)  y = MatMul (a, W)")) ==
        "what is before it is no product by one number");
  CHECK(declined(fold_affine_into_matmul, graph("p = MatMul (x, W)  y = Mul (p, R)", "double[2,4] y, double[2,4] p"))
            .find("used elsewhere") != std::string::npos);
  CHECK(declined(fold_affine_into_matmul,
                 R"(g (double[2,3] x, double[3,3] W, double[1] D) => (double[2,3] y, double[2,3] z)
    { p = MatMul (x, W)  y = Mul (p, D)  z = MatMul (x, W) })") == "the weight of MatMul is used elsewhere too");
}

TEST_CASE("the half of GELU stays with it, another function's goes") {
  const auto graph = [](const std::string& fn) {
    return R"(g (double[N,2,3] x, double[3,4] W) => (double[N,2,4] y)
      <double root = {1.4142135623730951}, double one = {1}, double half = {0.5}>
      { a = Div (x, root)  b = )" +
           fn + " (a)  c = Add (b, one)  d = Mul (x, c)  e = Mul (d, half)  y = MatMul (e, W) }";
  };
  CHECK(declined(fold_affine_into_matmul, graph("Erf")).find("belongs to GELU") != std::string::npos);
  CHECK(rewritten(fold_affine_into_matmul, graph("Tanh")) == "Div Tanh Add Mul MatMul");
}
