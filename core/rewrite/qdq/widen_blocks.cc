// com.microsoft's products by weights of a few bits in blocks, as MatMul by floats: MatMulNBits(x, w, scales, zero
// points, , b) -> Add(MatMul(x, W), b), MatMulBnb4(x, w, scales) -> MatMul(x, W).
#include "core/base/parallel.h"
#include "core/ir/stored_weights.h"
#include "core/rewrite/qdq/passes.h"

namespace mlopt::qdq {
namespace {

/// [k, n].
Tensor floats_of(const StoredWeights& w) {
  Tensor out(DType::kF32, {w.k, w.n});
  auto* numbers = out.mutable_data<float>();
  parallel_for(w.n, 16, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t c = 0; c < w.k; ++c) numbers[c * w.n + r] = w.at(r, c);
  });
  return out;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr int kBias = 5;
  const Node& node = *m.root;
  const auto weights = stored_weights(builder.view(node));
  if (!weights) return weights.error();
  Value* x = node.input(0);
  if (x->type.dtype != DType::kF32) return Decline{"it is not of float32"};
  const Type& type = node.output(0)->type;
  Value* bias = node.input(kBias);
  Value* y = builder.op("MatMul", {x, builder.constant(node.input(1)->name, floats_of(*weights))}, {}, type);
  return Replacement{bias ? builder.op("Add", {y, bias}, {}, type) : y};
}

std::vector<Rule> rules() {
  return {{Pattern::op("MatMulNBits|MatMulBnb4", {Pattern::any("x")}).domain("com.microsoft").open(), rewrite}};
}

}  // namespace

const Pass widen_blocks = {"widen_blocks", "products by weights of a few bits as products by floats", rules};

}  // namespace mlopt::qdq
