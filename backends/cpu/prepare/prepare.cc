#include "backends/cpu/prepare/prepare.h"

#include <array>

namespace mlopt::cpu {

void prepare(Model& model, const Evaluate& evaluate) {
  if (model.opset("com.microsoft") == 0) model.set_opset("com.microsoft", 1);
  infer(model);
  // What ends in a QuantizeLinear goes first: what is left then leaves the integers for good.
  static constexpr std::array kPasses{
      &widen_halves,        &qdq_moves,      &qdq_conv,         &qdq_matmul,     &qdq_gemm,
      &qdq_pointwise,       &qdq_concat,     &qdq_matmul_float, &qdq_gemm_float, &dynamic_matmul,
      &integer_matmul_bias, &conv_activation};
  for (const Pass* pass : kPasses) run_pass(model, *pass, {});
  unpack_weights(model, evaluate);
}

}  // namespace mlopt::cpu
