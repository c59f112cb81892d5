#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

Model model(const std::string& inputs) {
  Model made = test::fixture(
      "g (float[2,3,8] q, float[2,5,8] k, float[2,5,12] v, float[2,4,5,2] h, float[28] B, "
      "int32[2,5] m) => (float[2,3,12] y) "
      "{ y = com.microsoft.MultiHeadAttention <num_heads = 4> (" +
      inputs + ") }");
  made.set_opset("com.microsoft", 1);
  return made;
}

}  // namespace

TEST_CASE("the bias of multi-head attention is added before it and stays one value") {
  const auto lowered = [](const std::string& inputs) {
    return test::rewritten(lower::attention_bias, model(inputs), 1e-5, Target::kKernels);
  };
  const std::string sums = "Slice Add Slice Add Slice Add MultiHeadAttention";
  CHECK(lowered("q, k, v, B") == sums);
  CHECK(lowered("q, k, v, B, m") == sums);
}

TEST_CASE("multi-head attention without a bias, or of heads that are an axis, stays") {
  const auto applied = [](const std::string& inputs) {
    Model source = model(inputs);
    PassContext context = test::pass_context();
    infer(source, context.standard_types);
    return run_pass(source, lower::attention_bias, context).applied;
  };
  CHECK(applied("q, k, v") == 0);
  CHECK(applied("q, h, v, B") == 0);
}
