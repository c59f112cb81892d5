#include "backends/gpu/prepare.h"

#include <array>

#include "backends/gpu/expand.h"
#include "backends/gpu/unpacked.h"
#include "core/onnx/tools.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/inline_if.h"
#include "core/rewrite/lower/passes.h"
#include "core/rewrite/qdq/passes.h"

namespace mlopt::gpu {
namespace {

/// Rows that are known to be many are better off with weights that are made floats once.
std::string known_to_be_many(const NodeView& product) {
  constexpr int64_t kLongest = 65536;  // block that the kernels take
  if (!product.node().is("MatMulNBits", "com.microsoft")) return {};
  if (product.get_int("K") > kLongest) return "its rows are too long";
  const auto dims = product.node().input(0)->type.static_dims();
  return dims && element_count(*dims) > kFewRows * product.get_int("K") ? "it has many rows" : "";
}

}  // namespace

void prepare(Model& model, bool float8) {
  for (const char* domain : {"com.microsoft", "mlopt"})
    if (model.opset(domain) == 0) model.set_opset(domain, 1);
  if (model.opset() == 0) model.set_opset("", newest_opset());  // a model of other domains only
  infer(model);
  PassContext context;
  context.target = Target::kKernels;
  // What ends in a QuantizeLinear goes first: what is left then leaves the integers for good.
  static constexpr std::array kPasses{&inline_if,
                                      &lower::sum,
                                      &lower::qlinear,
                                      &qdq::moves,
                                      &qdq::split,
                                      &qdq::conv,
                                      &qdq::matmul,
                                      &qdq::gemm,
                                      &qdq::pointwise,
                                      &qdq::concat,
                                      &qdq::matmul_float,
                                      &qdq::gemm_float,
                                      &qdq::dynamic_matmul,
                                      &qdq::integer_matmul_bias,
                                      &fusion::shrink_constants,
                                      &fusion::fuse_gelu,
                                      &fusion::fuse_swish,
                                      &fusion::fuse_hard_swish,
                                      &fusion::fuse_conv_sum,
                                      &fusion::fuse_conv_activation,
                                      &fusion::fuse_mish,
                                      &fusion::fuse_prelu,
                                      &fusion::fuse_layer_norm,
                                      &fusion::fold_scale_into_norm};
  if (float8) run_pass(model, qdq::float8_matmul, context);
  for (const Pass* pass : kPasses) run_pass(model, *pass, context);
  context.objection = known_to_be_many;
  run_pass(model, qdq::integer_weights, context);
}

void specialize(Model& model, TypeRule types) {
  static constexpr std::array kPasses{
      &lower::counted_nothing, &lower::empty_pieces,   &qdq::float8_weights,           &lower::contrib_gelu,
      &fusion::fuse_gelu,      &fusion::fuse_conv_sum, &fusion::fuse_conv_activation,  &lower::attention_to_256,
      &lower::attention_heads, &lower::matmul_add,     &fusion::fuse_matmul_transpose, &lower::chain};
  PassContext context;
  context.standard_types = types;
  context.keep_outputs = false;
  context.target = Target::kKernels;
  expand_functions(model, types);
  for (const Pass* pass : kPasses) run_pass(model, *pass, context);
}

}  // namespace mlopt::gpu
