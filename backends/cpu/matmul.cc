// MatMul, Gemm and their fused forms: dst = activation(alpha A B + bias + beta C).
#include "backends/cpu/matmul.h"

#include "backends/cpu/broadcast.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/primitive.h"

namespace mlopt::cpu {

const Tensor* constant_right(const Site& site) {
  const Tensor* b = site.constant(MatMul::kRight);
  return b && b->rank() == 2 ? b : nullptr;
}

namespace {

Expected<PlannedStep> plan_with(const Site& site, MatMul product) {
  bool halves = site.halves;
  for (const auto& desc : site.in) {
    halves |= desc && desc->dtype == DType::kBF16;
    if (desc && desc->dtype != DType::kF32 && desc->dtype != DType::kBF16) return Decline{"not float32"};
  }
  const auto act = fused_activation(site.view);
  if (!act) return act.error();
  if (product.alpha == 0) return Decline{"alpha is 0"};
  product.act = *act;
  const auto p =
      product_of(site.desc(MatMul::kLeft).dims, site.desc(MatMul::kRight).dims, product.swap_left, product.swap_right);
  if (!p) return p.error();
  for (const int i : {product.bias, product.addend})
    if (i >= 0 && broadcast(site.desc(i).dims, p->result) != p->result)
      return Decline{"what is added does not broadcast to the product"};
  if (auto step = plan_vector(product, *p, site)) return step;
  const bool float32 = site.context.precision == Precision::kF32;
  const bool constant = constant_right(site) != nullptr;
  const bool tiles = float32 && (prefers_tiles(p->m(), p->k(), p->n(), constant) ||
                                 (constant && waits_for_weights(p->m(), p->k(), p->n(), site.view.node())));
  if (!tiles)
    if (auto step = plan_primitive(product, *p, site)) return step;
  if (halves) return Decline{"the tiles are of float32"};
  return plan_tiles(product, *p, site);
}

Expected<PlannedStep> plan_matmul(const Site& site) {
  const NodeView& view = site.view;
  if (view.get_int("transBatchA", 0) != 0 || view.get_int("transBatchB", 0) != 0) return Decline{"batches are swapped"};
  return plan_with(site, {.swap_left = view.get_int("transA", 0) != 0,
                          .swap_right = view.get_int("transB", 0) != 0,
                          .alpha = view.get_float("alpha", 1)});
}

Expected<PlannedStep> plan_gemm(const Site& site) {
  const NodeView& view = site.view;
  if (site.desc(MatMul::kLeft).dims.size() != 2 || site.desc(MatMul::kRight).dims.size() != 2)
    return Decline{"not matrices"};
  MatMul product{.swap_left = view.get_int("transA", 0) != 0,
                 .swap_right = view.get_int("transB", 0) != 0,
                 .alpha = view.get_float("alpha", 1),
                 .beta = view.get_float("beta", 1)};
  constexpr int kC = 2;
  const int64_t n = site.desc(MatMul::kRight).dims[product.swap_right ? 0 : 1];
  if (site.has(kC) && product.beta != 0) {
    const Dims& c = site.desc(kC).dims;
    const bool row = product.beta == 1 && n > 1 && (c == Dims{n} || c == Dims{1, n});
    (row ? product.bias : product.addend) = kC;
  }
  return plan_with(site, product);
}

/// The product of prepare/matmul_add.cc: A B + row + C.
Expected<PlannedStep> plan_sum(const Site& site) {
  return plan_with(site, {.swap_right = site.view.get_int("transB", 0) != 0,
                          .bias = site.has(2) ? 2 : -1,
                          .addend = site.has(3) ? 3 : -1});
}

/// Both operands; what is added is float32.
Bf16Rule rule(const Node&) { return {.multiplies = 1 << MatMul::kLeft | 1 << MatMul::kRight, .writes = true}; }

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "MatMul", .plan = guarded<plan_matmul>, .bf16 = rule},
    {.domain = "", .op = "Gemm", .plan = guarded<plan_gemm>, .bf16 = rule},
    {.domain = "com.microsoft", .op = "FusedMatMul", .plan = guarded<plan_matmul>, .bf16 = rule},
    {.domain = "com.microsoft", .op = "TransposeMatMul", .plan = guarded<plan_matmul>, .bf16 = rule},
    {.domain = "com.microsoft", .op = "FusedGemm", .plan = guarded<plan_gemm>, .bf16 = rule},
    {.domain = "mlopt", .op = "MatMulAdd", .plan = guarded<plan_sum>, .bf16 = rule},
};

}  // namespace

std::span<const Kernel> matmul_kernels() { return kKernels; }

}  // namespace mlopt::cpu
