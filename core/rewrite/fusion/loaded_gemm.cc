#include "core/rewrite/fusion/loaded_gemm.h"

namespace mlopt::fusion {
namespace {

bool is_row(const Value* v) { return v && v->known_constant() && v->known_constant()->rank() == 1; }

}  // namespace

bool becomes_gemm(const Node& matmul) {
  const Value* product = matmul.output(0);
  if (!matmul.is("MatMul") || !product->single_use() || !product->type.static_dims()) return false;
  const Tensor* matrix = matmul.input(1)->known_constant();
  const Node& sum = *product->uses.front().node;
  return matrix && matrix->rank() == 2 && sum.is("Add") && (is_row(sum.input(0)) || is_row(sum.input(1)));
}

}  // namespace mlopt::fusion
