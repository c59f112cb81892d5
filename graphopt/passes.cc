#include "graphopt/passes.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/inline_if.h"

namespace mlopt::graphopt {

std::vector<const Pass*> recognizing_passes() {
  return {
      &inline_functions_pass,
      // One form of constants first: every later rule asks for initializers.
      &inputs_to_initializers,
      &constant_to_initializer,
      &fold_shapes,
      &fold_constants,
      &inline_if,
      &unroll_loops,
      &eliminate_sequences,
      // What does nothing, before patterns that it would hide.
      &eliminate_identity,
      &eliminate_dropout,
      &eliminate_nop_cast,
      &merge_casts,
      &fold_cast_into_fill,
      &materialize_reshape_shape,
      &eliminate_nop_reshape,
      &merge_reshapes,
      &materialize_expand_shape,
      &eliminate_nop_transpose,
      &merge_transposes,
      &eliminate_nop_pad,
      &eliminate_nop_slice,
      &eliminate_nop_concat,
      &eliminate_nop_expand,
      &eliminate_nop_arithmetic,
      &eliminate_requantization,
      &eliminate_nop_split,
      &eliminate_nop_tile,
      &eliminate_concat_of_split,
      &eliminate_split_of_concat,
      &eliminate_unused_outputs,
      &eliminate_nop_resize,
      &eliminate_nop_pool,
      &eliminate_nop_reduce,
      &eliminate_nop_where,
      &eliminate_double_negation,
      &eliminate_idempotent,
      &eliminate_common_subexpressions,
      // What exporters spell out, before what merges its parts with others.
      &fusion::gelu,
      &fusion::swish,
      &fusion::hard_swish,
      &fusion::mish,
      &fusion::softmax,
      &fusion::depth_to_space,
      &fusion::layer_norm,
      &fusion::group_norm,
      &fusion::norm_scale,
      &fusion::bias_gelu,
      &fusion::embed_norm,
      &fusion::skip_norm,
      &fusion::known_mask,
      &fusion::rope,
      &fusion::attention,
      &eliminate_common_shapes,
  };
}

std::vector<const Pass*> all_passes() {
  std::vector<const Pass*> all = recognizing_passes();
  static constexpr const Pass* kMerging[] = {
      // Arithmetic into weights.
      &explicit_auto_pad,
      &fuse_pad_into_conv,
      &fuse_pad_into_pool,
      &fold_batchnorm_into_conv,
      &fold_mul_into_conv,
      &fold_add_into_conv,
      &fuse_matmul_add_into_gemm,
      &fuse_transpose_into_gemm,
      &fold_affine_into_gemm,
      &fold_affine_into_next_conv,
      &fold_affine_into_matmul,
      &merge_matmuls,
      // Fewer operators for the same.
      &fold_not_into_where,
      &min_max_to_clip,
      &merge_clips,
      &merge_reductions,
      &fold_reshape_into_reduction,
      &reduction_to_global_pool,
      &merge_squeezes,
      &merge_slices,
      &merge_concats,
      &gather_to_slice,
      &slices_to_split,
      &merge_constant_arithmetic,
      &fold_neg,
      &simplify_pow,
      &fold_reciprocal,
      &div_to_mul,
      &eliminate_redundant_expand,
      &fuse_gemm_sum,
      &replace_einsum,
      &push_transposes,
      &transpose_to_reshape,
      // Last: what the others left behind.
      &eliminate_dead_code,
      &eliminate_duplicate_initializers,
  };
  all.insert(all.end(), std::begin(kMerging), std::end(kMerging));
  return all;
}

const Pass& find_pass(std::string_view name) {
  std::vector<std::string> names;
  for (const Pass* pass : all_passes()) {
    if (pass->name == name) return *pass;
    names.emplace_back(pass->name);
  }
  usage_error(fmt::format("no pass is called '{}'", name), {}, suggestion(name, names));
}

}  // namespace mlopt::graphopt
