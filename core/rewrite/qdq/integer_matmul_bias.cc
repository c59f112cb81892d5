// MatMulIntegerToFloat(a, b, ...) + row -> MatMulIntegerToFloat(a, b, ..., row).
#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::qdq {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node* product = m.node("product");
  const Tensor* right = product->input(1)->known_constant();
  const Tensor& bias = m.constant("bias");
  if (product->input(6)) return Decline{"it adds a row already"};
  if (bias.rank() != 1 || !right || bias.dim(0) != right->dims().back()) return Decline{"what is added is not a row"};
  std::vector<Value*> inputs = product->inputs();
  inputs.resize(6, nullptr);
  inputs.push_back(m.value("bias"));
  return Replacement{other_op(m, *product, builder, "MatMulIntegerToFloat", std::move(inputs))};
}

std::vector<Rule> rules() {
  Pattern product = Pattern::op("MatMulIntegerToFloat", {Pattern::any("a"), Pattern::any("b")})
                        .open()
                        .domain("com.microsoft")
                        .as("product")
                        .single_use();
  return {{Pattern::op("Add", {std::move(product), Pattern::constant("bias")}).any_order(), rewrite}};
}

}  // namespace

const Pass integer_matmul_bias = {"integer_matmul_bias", "a row added to a product of integers as part of it", rules};

}  // namespace mlopt::qdq
