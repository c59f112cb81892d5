// MatMul or Gemm (DequantizeLinear a, DequantizeLinear b, c) of floats of 8 bits, b constant ->
// MatMulIntegerToFloat(a, b, ..., c), which is then no operator of com.microsoft's, whose codes are integers: for
// devices that multiply such floats as they are.
#include <algorithm>

#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"
#include "core/tensor/picked.h"

namespace mlopt::qdq {
namespace {

/// The scale of a DequantizeLinear by float32, one or one for each index of `axis`.
Value* scale_of(Node* dequantize, const Builder& builder, int axis) {
  const NodeView view = builder.view(*dequantize);
  Value* scale = dequantize->input(1);
  const Tensor* scales = scale ? scale->known_constant() : nullptr;
  if (!scales || scales->dtype() != DType::kF32 || scales->rank() > 1 || view.get_int("block_size", 0) != 0 ||
      view.has("output_dtype"))
    return nullptr;
  if (scales->size() == 1) return scale;
  const Tensor* numbers = dequantize->input(0)->known_constant();
  const int64_t own = view.get_int("axis", 1);
  const bool fits = axis >= 0 && numbers && (own < 0 ? own + 2 : own) == axis && scales->size() == numbers->dim(axis);
  return fits ? scale : nullptr;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Node* product = m.root;
  const NodeView view = builder.view(*product);
  if (!is_plain_product(view)) return Decline{"it scales or transposes its operands"};
  Node *left = product->input(0)->producer, *right = product->input(1)->producer;
  Value *a = left->input(0), *b = right->input(0);
  const Tensor* weights = b->known_constant();
  if (!is_float8(a->type.dtype) || !is_float8(b->type.dtype) || !weights || weights->rank() != 2)
    return Decline{"its operands are no floats of 8 bits with constant weights"};
  if (a->type.dtype == DType::kF8E5M2 && b->type.dtype == DType::kF8E5M2)
    return Decline{"tensor cores multiply no E5M2 by E5M2"};
  if (!a->type.dims || a->type.dims->size() < 2) return Decline{"the rank is not known, or 1"};
  constexpr int64_t kLeast = 16;
  if (std::min(weights->dim(0), weights->dim(1)) < kLeast) return Decline{"too small for tensor cores"};
  const bool turned = view.get_int("transB", 0) != 0;
  Value *a_scale = scale_of(left, builder, -1), *b_scale = scale_of(right, builder, turned ? 0 : 1);
  if (!a_scale || !b_scale) return Decline{"its operands have no constant scales of float32"};
  const int64_t columns = weights->dim(turned ? 0 : 1);
  std::vector<Value*> inputs{a, turned ? builder.constant(b->name + "_turned", transposed(*weights)) : b, a_scale,
                             b_scale};
  if (Value* bias = product->input(2)) {
    if (!is_row(*bias, columns)) return Decline{"its bias is no row"};
    inputs.insert(inputs.end(), {nullptr, nullptr, bias});
  }
  return Replacement{other_op(m, *product, builder, "MatMulIntegerToFloat", std::move(inputs))};
}

std::vector<Rule> rules() {
  const auto dequantized = [] { return Pattern::op("DequantizeLinear", {Pattern::any("")}).open(); };
  return {{Pattern::op("MatMul", {dequantized(), dequantized()}), rewrite},
          {Pattern::op("Gemm", {dequantized(), dequantized()}).open(), rewrite}};
}

}  // namespace

const Pass float8_matmul = {"qdq_float8_matmul", "products of DequantizeLinear of 8-bit floats on these", rules};

}  // namespace mlopt::qdq
