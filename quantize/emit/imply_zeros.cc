#include "quantize/emit/imply_zeros.h"

#include <algorithm>

#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

/// Takes computed codes of int8 around zero?
bool is_around_zero(const Node& node) {
  if (!node.is("DequantizeLinear") || !node.input(2) || node.input(0)->known_constant()) return false;
  const Tensor* zero = node.input(2)->known_constant();
  if (!zero || zero->dtype() != DType::kI8) return false;
  const std::vector<int64_t> zeros = to_ints(*zero);
  return std::all_of(zeros.begin(), zeros.end(), [](int64_t z) { return z == 0; });
}

}  // namespace

void imply_zeros(Model& model) {
  constexpr int64_t kTypedCodes = 21;  // opset from which QuantizeLinear says the type of its codes
  if (model.opset() < kTypedCodes) return;
  for (Node* node : all_nodes(*model.graph))
    if (is_around_zero(*node)) node->graph()->resize_inputs(node, 2);
  remove_dead(model);
}

}  // namespace mlopt::quantize
