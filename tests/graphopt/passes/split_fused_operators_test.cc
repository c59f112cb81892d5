#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::split_fused_operators;
using test::declined;
using test::rewritten;

namespace {

std::string conv(const std::string& attrs, const std::string& more = "") {
  return "g (float[N,3,6,6] x, float[4,3,3,3] W, float[4] B, float[N,4,6,6] z) => (float[N,4,6,6] y) { "
         "y = com.microsoft.FusedConv <pads = [1, 1, 1, 1]" +
         attrs + "> (x, W, B" + more + ") }";
}

const char* kGemm = R"(g (float[N,3] x, float[3,4] W, float[4] B) => (float[N,4] y) {
  y = com.microsoft.FusedGemm <alpha = 0.5, activation = "LeakyRelu", activation_alpha = 0.3> (x, W, B) })";

}  // namespace

TEST_CASE("FusedConv becomes Conv, Add and the activation") {
  CHECK(rewritten(split_fused_operators, conv(R"(, activation = "Relu")"), 17, 1e-6) == "Conv Relu");
  CHECK(rewritten(split_fused_operators, conv("", ", z"), 17, 1e-6) == "Conv Add");
  CHECK(rewritten(split_fused_operators, conv(R"(, activation = "Clip", activation_params = [-0.5, 0.25])", ", z"), 17,
                  1e-6) == "Conv Add Clip");
  CHECK(rewritten(split_fused_operators, conv(R"(, activation = "Clip", activation_params = [-0.5, 0.25])"), 10,
                  1e-6) == "Conv Clip");
  CHECK(rewritten(split_fused_operators, conv(R"(, activation = "HardSigmoid", activation_params = [0.3, 0.4])"), 17,
                  1e-6) == "Conv HardSigmoid");
}

TEST_CASE("FusedGemm becomes Gemm and the activation") {
  CHECK(rewritten(split_fused_operators, kGemm, 17, 1e-6) == "Gemm LeakyRelu");
}

TEST_CASE("FusedMatMul becomes Transpose, MatMul and Mul") {
  const auto product = [](const std::string& attrs, const std::string& a = "float[N,3,5] x") {
    return "g (" + a + ", float[3,4] W) => (float[N,5,4] y) { y = com.microsoft.FusedMatMul <" + attrs + "> (x, W) }";
  };
  CHECK(rewritten(split_fused_operators, product("transA = 1"), 17, 1e-6) == "Transpose MatMul");
  CHECK(rewritten(split_fused_operators, product("transA = 1, alpha = 0.5"), 17, 1e-6) == "Transpose MatMul Mul");
  CHECK(rewritten(split_fused_operators, product("alpha = 0.5", "float[N,5,3] x"), 17, 1e-6) == "MatMul Mul");
  CHECK(declined(split_fused_operators, product("transBatchA = 1"), 17) == "it moves batches too");
}

TEST_CASE("what ONNX Runtime is to run, and what the standard does not have, stays joined") {
  CHECK(declined(split_fused_operators, kGemm, 17, Target::kOrt) == "ONNX Runtime has it");
  CHECK(declined(split_fused_operators, conv(R"(, activation = "QuickGelu")"), 17) ==
        "the standard has no operator QuickGelu for it");
}

TEST_CASE("limits that cross, of which runtimes make different numbers, and operators without operands stay") {
  CHECK(declined(split_fused_operators, conv(R"(, activation = "Clip", activation_params = [3.0, 1.0])"), 17) ==
        "its limits cross");
  for (const char* op : {"FusedConv", "FusedGemm", "FusedMatMul"})
    CHECK(declined(
              split_fused_operators,
              std::string("g (float[2,3,6] x) => (float[2,6,3] y) { y = com.microsoft.") + op + " <transA = 1> (x) }",
              17)
              .empty());
}

TEST_CASE("a Gemm without a third operand needs opset 11") {
  const std::string text = "g (float[N,4] x, float[4,5] W) => (float[N,5] y) { y = com.microsoft.FusedGemm (x, W) }";
  CHECK(declined(graphopt::split_fused_operators, text, 10) == "Gemm needs a third operand before opset 11");
}
