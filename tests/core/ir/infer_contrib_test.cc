#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt::test;

// Checked with what onnxruntime gives.

TEST_CASE("products, Gemm and convolutions that are fused have the shapes of those that are not") {
  const std::string q = "y = com.microsoft.";
  CHECK(types_in("float[N,3,M] x, float[3,4] w", q + "FusedMatMul <transA = 1> (x, w)", "y") == "float32[N,M,4]");
  CHECK(types_in("float[N,3,M] x, float[4,M] w", q + "FusedMatMul <transB = 1> (x, w)", "y") == "float32[N,3,4]");
  CHECK(types_in("float[3] x, float[3,4] w", q + "FusedMatMul <transA = 1> (x, w)", "y") == "float32[4]");
  CHECK(types_in("float[N,3] x, float[4,3] w, float[4] b", q + "FusedGemm <transB = 1> (x, w, b)", "y") ==
        "float32[N,4]");
  CHECK(types_in("float[N,3,H,8] x, float[4,3,3,3] w", q + "FusedConv (x, w)", "y") == "float32[N,4,H-2,6]");
}

TEST_CASE("the type of a product whose leading axes move is left open") {
  CHECK(types_in("float[2,3,5] x, float[2,5,4] w", "y = com.microsoft.FusedMatMul <transBatchA = 1> (x, w)", "y") ==
        "float32[...]");
}
