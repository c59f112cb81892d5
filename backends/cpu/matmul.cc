// MatMul, Gemm and com.microsoft's fused forms: dst = activation(alpha A B + beta C).
#include "backends/cpu/matmul.h"

#include <utility>

#include "backends/cpu/broadcast.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/planned.h"

namespace mlopt::cpu {

bool is_bias(const Product& p, const Dims& addend) {
  return p.n() > 1 && (addend == Dims{p.n()} || addend == Dims{1, p.n()});
}

namespace {

Expected<Step> plan(const std::shared_ptr<const MatMul>& s, const Call& call) {
  for (int i = 0; i < call.input_count(); ++i)
    if (call.has(i) && call.in(i).dtype() != DType::kF32) return Decline{"not float32"};
  const auto p = product_of(call.in(MatMul::kLeft).dims(), call.in(MatMul::kRight).dims(), s->swap_left, s->swap_right);
  if (!p) return p.error();
  const bool addend = call.has(MatMul::kAddend) && s->beta != 0;
  if (addend && broadcast(call.in(MatMul::kAddend).dims(), p->out) != p->out)
    return Decline{"C does not broadcast to the product"};
  if (prefers_tiles(*p, s->right != nullptr)) return plan_tiles(s, *p, call, addend);
  return plan_primitive(s, *p, call, addend);
}

/// The right operand when it is one constant matrix.
std::shared_ptr<ConstantRight> constant_right(const NodeView& view, const CompileContext& context, bool swapped) {
  const Tensor* b = packable(view, MatMul::kRight, context);
  if (!b || b->dtype() != DType::kF32 || b->rank() != 2 || b->size() == 0) return nullptr;
  return std::make_shared<ConstantRight>(*b, swapped);
}

Expected<Step> compile_with(const NodeView& view, const CompileContext& context, MatMul product) {
  if (const auto no = wrong_type(view, MatMul::kLeft, {DType::kF32})) return *no;
  const auto act = fused_activation(view);
  if (!act) return act.error();
  if (product.alpha == 0) return Decline{"alpha is 0"};
  product.act = *act;
  product.right = constant_right(view, context, product.swap_right);
  return planned(view, context,
                 [s = std::make_shared<const MatMul>(std::move(product))](const Call& call) { return plan(s, call); });
}

Expected<Step> compile_matmul(const NodeView& view, const CompileContext& context) {
  if (view.get_int("transBatchA", 0) != 0 || view.get_int("transBatchB", 0) != 0) return Decline{"batches are swapped"};
  return compile_with(view, context,
                      {.swap_left = view.get_int("transA", 0) != 0,
                       .swap_right = view.get_int("transB", 0) != 0,
                       .alpha = view.get_float("alpha", 1)});
}

Expected<Step> compile_gemm(const NodeView& view, const CompileContext& context) {
  if (const Value* a = view.node().input(MatMul::kLeft); a && a->type.dims && a->type.dims->size() != 2)
    return Decline{"not matrices"};
  return compile_with(view, context,
                      {.swap_left = view.get_int("transA", 0) != 0,
                       .swap_right = view.get_int("transB", 0) != 0,
                       .alpha = view.get_float("alpha", 1),
                       .beta = view.get_float("beta", 1)});
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "MatMul", .compile = compile_matmul},
    {.domain = "", .op = "Gemm", .compile = compile_gemm},
    {.domain = "com.microsoft", .op = "FusedMatMul", .compile = compile_matmul},
    {.domain = "com.microsoft", .op = "TransposeMatMul", .compile = compile_matmul},
    {.domain = "com.microsoft", .op = "FusedGemm", .compile = compile_gemm},
};

}  // namespace

std::span<const Kernel> matmul_kernels() { return kKernels; }

}  // namespace mlopt::cpu
