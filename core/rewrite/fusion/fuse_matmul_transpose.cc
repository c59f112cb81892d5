// A product with a matrix whose last two axes a Transpose exchanged -> com.microsoft.FusedMatMul, which reads the
// matrix as it lies: what backward passes of products are made of.
#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/loaded_gemm.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::fusion {
namespace {

bool exchanges_last_two(const NodeView& transpose, size_t rank) {
  std::vector<int64_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[rank - 1], order[rank - 2]);
  return permutation_of(transpose, rank) == order;
}

template <int kSide>
Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.target != Target::kOrt && builder.target != Target::kKernels) return Decline{"only ONNX Runtime has it"};
  const Node& product = *m.root;
  if (builder.target == Target::kOrt && becomes_gemm(product)) return Decline{"a bias joins the product"};
  const Node& turned = *m.node("turned");
  Value* x = turned.input(0);
  if (x->type.dtype != DType::kF32 || !x->type.dims || x->type.dims->size() < 2) return Decline{"not float32 matrices"};
  if (!product.input(1 - kSide)->type.dims || product.input(1 - kSide)->type.dims->size() < 2)
    return Decline{"the other operand is a vector"};
  if (!exchanges_last_two(builder.view(turned), x->type.dims->size())) return Decline{"other axes are exchanged"};
  std::vector<Value*> inputs(product.inputs().begin(), product.inputs().end());
  inputs[kSide] = x;
  std::vector<Attr> attrs = product.attrs;
  attrs.push_back({kSide == 0 ? "transA" : "transB", int64_t{1}, ""});
  return Replacement{
      qdq::other_op(m, product, builder, "FusedMatMul", std::move(inputs), std::move(attrs), "com.microsoft")};
}

std::vector<Rule> rules() {
  const Pattern turned = Pattern::op("Transpose", {Pattern::any("x")}).open().as("turned").single_use();
  return {{Pattern::op("MatMul", {turned, Pattern::any("b")}), rewrite<0>},
          {Pattern::op("MatMul", {Pattern::any("a"), turned}), rewrite<1>}};
}

}  // namespace

const Pass fuse_matmul_transpose = {"fuse_matmul_transpose",
                                    "products that read a matrix the other way round (--target ort)", rules};

}  // namespace mlopt::fusion
