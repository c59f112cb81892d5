#include "backends/cpu/prepare/prepare.h"

#include <array>

#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/inline_if.h"
#include "core/rewrite/loop_counters.h"
#include "core/rewrite/loop_invariants.h"
#include "core/rewrite/lower/passes.h"
#include "core/rewrite/qdq/passes.h"

namespace mlopt::cpu {

void prepare(Model& model, const Evaluate& evaluate, Precision precision) {
  for (const char* domain : {"com.microsoft", "mlopt"})
    if (model.opset(domain) == 0) model.set_opset(domain, 1);
  infer(model);
  PassContext context;
  context.target = Target::kKernels;
  // What ends in a QuantizeLinear goes first: what is left then leaves the integers for good.
  static constexpr std::array kPasses{&inline_if,
                                      &loop_invariants,
                                      &loop_counters,
                                      &lower::sum,
                                      &lower::qlinear,
                                      &widen_halves,
                                      &widen_codes,
                                      &qdq::moves,
                                      &qdq::split,
                                      &qdq::conv,
                                      &qdq::matmul,
                                      &qdq::gemm,
                                      &qdq::pointwise,
                                      &qdq::concat,
                                      &qdq::matmul_float,
                                      &qdq::gemm_float,
                                      &integer_conv_add,
                                      &qdq::dynamic_matmul,
                                      &qdq::integer_matmul_bias,
                                      &fusion::shrink_constants,
                                      &fusion::fuse_gelu,
                                      &fusion::fuse_swish,
                                      &fusion::fuse_hard_swish,
                                      &fusion::fuse_conv_sum,
                                      &fusion::fuse_conv_activation,
                                      &fusion::fuse_channel_shuffle,
                                      &fusion::fuse_mish,
                                      &fusion::fuse_prelu,
                                      &fusion::fuse_layer_norm,
                                      &fusion::fold_scale_into_norm,
                                      &fusion::fuse_rope,
                                      &fusion::fuse_rope_interleaved,
                                      &fusion::fuse_rope_part,
                                      &fusion::fuse_head_rows};
  for (const Pass* pass : kPasses) run_pass(model, *pass, context);
  run_pass(model, qdq::gather_before_dequantize, context);
  // Codes of weights are multiplied in float32.
  run_pass(model, precision == Precision::kF32 ? qdq::integer_weights : qdq::widen_blocks, context);
  unpack_weights(model, evaluate);
}

void specialize(Model& model, TypeRule types) {
  static constexpr std::array kPasses{&inline_if,
                                      &lower::attention,
                                      &lower::attention_past,
                                      &lower::attention_heads,
                                      &lower::attention_groups,
                                      &lower::attention_rows,
                                      &lower::contrib_gelu,
                                      &fusion::fuse_gelu,
                                      &fusion::fuse_conv_sum,
                                      &fusion::fuse_conv_activation,
                                      &lower::matmul_add,
                                      &fusion::fuse_matmul_transpose,
                                      &lower::chain};
  PassContext context;
  context.standard_types = types;
  context.target = Target::kKernels;
  for (const Pass* pass : kPasses) run_pass(model, *pass, context);
}

}  // namespace mlopt::cpu
