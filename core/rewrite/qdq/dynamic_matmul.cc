// Mul(Cast(MatMulInteger(a, b, a_zero, b_zero)), Mul(a_scale, b_scale)) -> MatMulIntegerToFloat.
#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::qdq {
namespace {

/// The scale of the numbers in `quantized`, where DynamicQuantizeLinear made them.
const Value* own_scale(const Value* quantized) {
  const Node* node = quantized->producer;
  return node && node->is("DynamicQuantizeLinear") ? node->output(1) : nullptr;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node* product = m.node("product");
  if (builder.view(*m.node("cast")).get_int("to") != static_cast<int64_t>(DType::kF32))
    return Decline{"the sums do not become float32"};
  Value *a_scale = m.value("s0"), *b_scale = m.value("s1");
  if (b_scale == own_scale(product->input(0))) std::swap(a_scale, b_scale);
  if (a_scale != own_scale(product->input(0))) return Decline{"it is not scaled by the steps of its input"};
  if (!b_scale->known_constant() || b_scale->known_constant()->rank() > 1)
    return Decline{"it is scaled by more than columns"};
  std::vector<Value*> inputs{product->input(0), product->input(1), a_scale,
                             b_scale,           product->input(2), product->input(3)};
  return Replacement{other_op(m, *product, builder, "MatMulIntegerToFloat", std::move(inputs))};
}

Pattern scaled() {
  Pattern product =
      Pattern::op("MatMulInteger", {Pattern::any("a"), Pattern::any("b")}).open().as("product").single_use();
  Pattern sums = Pattern::op("Cast", {std::move(product)}).as("cast").single_use();
  Pattern scales = Pattern::op("Mul", {Pattern::any("s0"), Pattern::any("s1")});
  return Pattern::op("Mul", {std::move(sums), std::move(scales)}).any_order();
}

std::vector<Rule> rules() { return {{scaled(), rewrite}}; }

}  // namespace

const Pass dynamic_matmul = {"dynamic_matmul", "MatMulInteger and the scaling of its sums as one operator", rules};

}  // namespace mlopt::qdq
