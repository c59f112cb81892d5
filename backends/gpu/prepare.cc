#include "backends/gpu/prepare.h"

#include <array>

#include "backends/gpu/expand.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/inline_if.h"
#include "core/rewrite/lower/passes.h"

namespace mlopt::gpu {

void prepare(Model& model) {
  for (const char* domain : {"com.microsoft", "mlopt"})
    if (model.opset(domain) == 0) model.set_opset(domain, 1);
  infer(model);
  PassContext context;
  context.target = Target::kKernels;
  static constexpr std::array kPasses{&inline_if,          &fusion::gelu,       &fusion::swish,
                                      &fusion::hard_swish, &lower::conv_add,    &lower::conv_activation,
                                      &fusion::mish,       &fusion::layer_norm, &fusion::norm_scale};
  for (const Pass* pass : kPasses) run_pass(model, *pass, context);
}

void specialize(Model& model, TypeRule types) {
  static constexpr std::array kPasses{&inline_if,
                                      &lower::contrib_gelu,
                                      &fusion::gelu,
                                      &lower::conv_add,
                                      &lower::conv_activation,
                                      &lower::attention,
                                      &lower::attention_heads,
                                      &lower::matmul_add,
                                      &lower::matmul_transposed,
                                      &lower::chain};
  PassContext context;
  context.standard_types = types;
  context.target = Target::kKernels;
  expand_functions(model, types);
  for (const Pass* pass : kPasses) run_pass(model, *pass, context);
}

}  // namespace mlopt::gpu
