// MatMul(a, B) + c -> Gemm(a, B, c) for matrices a and B, where c broadcasts to the result and not the other way. What
// is not constant is added by ONNX Runtime's Gemm alone: elsewhere it would keep the product from being taken for a
// layer.
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto &a = m.value("a")->type.dims, &b = m.value("b")->type.dims, &c = m.value("c")->type.dims;
  if (!a || !b || a->size() != 2 || b->size() != 2) return Decline{"its operands are not matrices"};
  if (!is_foldable_float(m.value("a")->type.dtype)) return Decline{"its type is no float"};
  const auto quantized = [](const Value* v) { return v->producer && v->producer->is("DequantizeLinear"); };
  if (quantized(m.value("a")) || quantized(m.value("b"))) return Decline{"it is quantized as a MatMul"};
  if (builder.opset() < 7) return Decline{"Gemm broadcasts its bias in another way before opset 7"};
  if (!m.value("c")->known_constant() && builder.target != Target::kOrt) return Decline{"its summand is not constant"};
  const SymDims result = {(*a)[0], (*b)[1]};
  if (!c || c->size() > 2) return Decline{"its summand has more axes than Gemm allows"};
  for (size_t i = 0; i < c->size(); ++i) {
    const Dim& d = (*c)[c->size() - 1 - i];
    if (!d.is(1) && !(d == result[1 - i])) return Decline{"its summand does not provably broadcast to the product"};
  }
  Value* made = builder.op("Gemm", {m.value("a"), m.value("b"), m.value("c")});
  made->producer->name = m.node("product")->name;
  return Replacement{made};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Add", {Pattern::op("MatMul", {Pattern::any("a"), Pattern::any("b")}).as("product").single_use(),
                               Pattern::any("c")})
               .any_order(),
           rewrite}};
}

}  // namespace

const Pass fuse_matmul_add_into_gemm = {"fuse_matmul_add_into_gemm", "replace MatMul and Add of matrices by Gemm",
                                        rules};

}  // namespace mlopt::graphopt
