#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string gemm(const std::string& activation) {
  return "g (float[N,3] x, float[3,4] W, float[4] B) => (float[N,4] y) { p = Gemm <beta = 0.5> (x, W, B)  y = " +
         activation + " (p) }";
}

}  // namespace

TEST_CASE("activations join the Gemm before them, with their parameters") {
  for (const char* act : {"Elu <alpha = 0.7>", "HardSigmoid <alpha = 0.3, beta = 0.4>", "LeakyRelu <alpha = 0.2>",
                          "LeakyRelu", "Relu", "Sigmoid", "Softplus", "Softsign", "Tanh"}) {
    INFO(act);
    CHECK(rewritten(fusion::fuse_gemm_activation, gemm(act), 17, 1e-6, Target::kOrt) == "FusedGemm");
  }
}

TEST_CASE("an activation stays where the product is read elsewhere, and for other targets") {
  CHECK(declined(fusion::fuse_gemm_activation, gemm("Relu"), 17) == "only ONNX Runtime has it");
  CHECK(declined(fusion::fuse_gemm_activation, gemm("Gelu"), 20, Target::kOrt).empty());
  CHECK(declined(fusion::fuse_gemm_activation, R"(g (double[N,3] x, double[3,4] W) => (double[N,4] y) {
    p = Gemm (x, W)  y = Tanh (p) })",
                 17, Target::kOrt) == "it is not float32");
  CHECK_FALSE(declined(fusion::fuse_gemm_activation, R"(g (float[N,3] x, float[3,4] W) => (float[N,4] y, float[N,4] p) {
    p = Gemm (x, W)  y = Tanh (p) })",
                       17, Target::kOrt)
                  .empty());
}

TEST_CASE("an activation stays that the QuantizeLinear behind it absorbs") {
  CHECK(declined(fusion::fuse_gemm_activation,
                 "g (uint8[N,3] q, float[3,4] W) => (uint8[N,4] y) <float s = {0.25}, uint8 z = {0}> { "
                 "x = DequantizeLinear (q, s, z)  p = Gemm (x, W)  a = Relu (p)  y = QuantizeLinear (a, s, z) }",
                 17, Target::kOrt) == "they are quantized as one");
}
