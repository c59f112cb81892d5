// QuantizeLinear(DequantizeLinear(x, s, z), s, z) -> x: the same codes of eight bits.
#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node &dequantize = *m.node("dequantize"), &quantize = *m.root;
  Value* x = dequantize.input(0);
  const DType type = x->type.dtype;
  if ((type != DType::kI8 && type != DType::kU8) || quantize.output(0)->type.dtype != type)
    return Decline{"its codes have another type"};
  if (!same_constant(dequantize.input(1), quantize.input(1)) || !same_constant(dequantize.input(2), quantize.input(2)))
    return Decline{"its steps are others than those before"};
  const Tensor* scale = quantize.input(1)->known_constant();
  if (!scale) return Decline{"its scale is not constant"};
  if (dequantize.output(0)->type.dtype != scale->dtype()) return Decline{"its floats are not of the type of its scale"};
  constexpr double kCodes = 255;
  const double most = scale->dtype() == DType::kF16 ? 65504 / kCodes : 1e30;
  for (const double s : to_doubles(*scale))
    if (!(s > 1e-30 && s < most)) return Decline{"its scale is not an ordinary number"};
  const NodeView first = builder.view(dequantize), second = builder.view(quantize);
  if (scale->size() > 1 && (first.get_int("axis", 1) != second.get_int("axis", 1) ||
                            first.get_int("block_size", 0) != second.get_int("block_size", 0)))
    return Decline{"its steps are along another axis"};
  return Replacement{x};
}

std::vector<Rule> rules() {
  return {
      {Pattern::op("QuantizeLinear", {Pattern::op("DequantizeLinear", {}).open().as("dequantize")}).open(), rewrite}};
}

}  // namespace

const Pass eliminate_requantization = {
    "eliminate_requantization", "remove DequantizeLinear and QuantizeLinear that give back the same codes", rules};

}  // namespace mlopt::graphopt
