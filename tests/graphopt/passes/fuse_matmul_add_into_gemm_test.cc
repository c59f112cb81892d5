#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fuse_matmul_add_into_gemm;
using test::declined;
using test::rewritten;

TEST_CASE("MatMul and Add of matrices become Gemm") {
  const auto graph = [](const std::string& bias) {
    return "g (double[N,3] x, double[3,4] W, double" + bias +
           " B) => (double[N,4] y) { a = MatMul (x, W)  y = Add (B, a) }";
  };
  CHECK(rewritten(fuse_matmul_add_into_gemm, graph("[4]")) == "Gemm");
  CHECK(rewritten(fuse_matmul_add_into_gemm, graph("[1,4]")) == "Gemm");
  CHECK(rewritten(fuse_matmul_add_into_gemm, graph("")) == "Gemm");
}

TEST_CASE("products of more axes, summands that broadcast the product, and integers stay") {
  CHECK(declined(fuse_matmul_add_into_gemm, R"(g (double[N,2,3] x, double[3,4] W, double[4] B) => (double[N,2,4] y)
    { a = MatMul (x, W)  y = Add (a, B) })") == "its operands are not matrices");
  CHECK(declined(fuse_matmul_add_into_gemm, R"(g (double[1,3] x, double[3,4] W, double[2,4] B) => (double[2,4] y)
    { a = MatMul (x, W)  y = Add (a, B) })") == "its summand does not provably broadcast to the product");
  CHECK(declined(fuse_matmul_add_into_gemm, R"(g (double[2,3] x, double[3,4] W, double[1,1,4] B) => (double[1,2,4] y)
    { a = MatMul (x, W)  y = Add (a, B) })") == "its summand has more axes than Gemm allows");
  CHECK(declined(fuse_matmul_add_into_gemm, R"(g (int32[2,3] x, int32[3,4] W, int32[4] B) => (int32[2,4] y)
    { a = MatMul (x, W)  y = Add (a, B) })") == "its type is no float");
  CHECK(declined(fuse_matmul_add_into_gemm, R"(g (double[2,3] x, double[3,4] W, double[4] b) => (double[2,4] y)
    { a = MatMul (x, W)  y = Add (a, b) })")
            .find("is not constant") != std::string::npos);
}

TEST_CASE("ONNX Runtime's Gemm adds what is not constant too") {
  CHECK(rewritten(fuse_matmul_add_into_gemm, R"(g (double[N,3] x, double[3,4] W, double[N,4] z) => (double[N,4] y)
    { a = MatMul (x, W)  y = Add (z, a) })",
                  17, 1e-12, Target::kOrt) == "Gemm");
  CHECK(declined(fuse_matmul_add_into_gemm, R"(g (double[N,3] x, double[3,4] W, double[M,4] z) => (double[N,4] y)
    { a = MatMul (x, W)  y = Add (z, a) })",
                 17, Target::kOrt) == "its summand does not provably broadcast to the product");
}

TEST_CASE("a quantized MatMul stays one") {
  CHECK(declined(fuse_matmul_add_into_gemm, R"(g (uint8[2,3] x, float[3,4] W, float[4] B) => (float[2,4] y)
    <float s = {0.1}, uint8 z = {3}> { d = DequantizeLinear (x, s, z)  a = MatMul (d, W)  y = Add (a, B) })") ==
        "it is quantized as a MatMul");
}
