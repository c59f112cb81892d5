#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_affine_into_gemm;
using test::declined;
using test::rewritten;

namespace {

/// Gemm of x [N,3] to 4 columns, then `nodes` over its result a.
std::string graph(const std::string& gemm, const std::string& constant, const std::string& nodes) {
  return "g (double[N,3] x, double[3,4] W, double[4,3] U, double[4] B, double[1] O, double" + constant +
         " C, double[4] S, double[4] T, double[4] M, double[4] V) => (double[N,4] y) { a = Gemm " + gemm + " " + nodes +
         "}";
}

}  // namespace

TEST_CASE("factors and summands by column go into Gemm") {
  CHECK(rewritten(fold_affine_into_gemm, graph("(x, W, B)", "[4]", "y = Mul (a, C)")) == "Gemm");
  CHECK(rewritten(fold_affine_into_gemm,
                  graph("<transB = 1, alpha = 0.5, beta = 2.0> (x, U, B)", "[1,4]", "y = Div (a, C)")) == "Gemm");
  CHECK(rewritten(fold_affine_into_gemm, graph("<beta = 2.0> (x, W, O)", "", "b = Add (C, a)  y = Sub (b, S)")) ==
        "Gemm");
  CHECK(rewritten(fold_affine_into_gemm, graph("(x, W)", "[4]", "b = Mul (a, C)  y = Relu (b)")) == "Gemm Relu");
}

TEST_CASE("BatchNormalization goes into Gemm") {
  CHECK(rewritten(fold_affine_into_gemm, graph("<alpha = 0.5> (x, W, B)", "",
                                               "y = BatchNormalization <epsilon = 0.1> (a, S, T, M, V)")) == "Gemm");
}

TEST_CASE("constants by row, biases by row and shared results stay") {
  const std::string shape = "its constant is not by column";
  CHECK(declined(fold_affine_into_gemm, R"(g (double[4,3] x, double[3,4] W, double[4,1] C) => (double[4,4] y)
    { a = Gemm (x, W)  y = Mul (a, C) })") == shape);
  CHECK(declined(fold_affine_into_gemm, R"(g (double[2,3] x, double[3,4] W, double[1,1,4] C) => (double[1,2,4] y)
    { a = Gemm (x, W)  y = Mul (a, C) })") == shape);
  CHECK(
      declined(fold_affine_into_gemm, R"(g (double[4,3] x, double[3,4] W, double[4,1] B, double[4] C) => (double[4,4] y)
    { a = Gemm (x, W, B)  y = Mul (a, C) })") == "the bias of Gemm is not by column");
  CHECK(declined(fold_affine_into_gemm, graph("(x, W)", "[4]", "b = Mul (a, C)  y = Add (a, b)"))
            .find("is used elsewhere too") != std::string::npos);
  CHECK(declined(fold_affine_into_gemm, graph("<broadcast = 1> (x, W, B)", "[4]", "y = Mul <broadcast = 1> (a, C)"),
                 6) == shape);
}
