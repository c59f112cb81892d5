#include "graphopt/passes.h"

#include "core/base/error.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/inline_if.h"
#include "core/rewrite/loop_counters.h"
#include "core/rewrite/loop_invariants.h"
#include "core/rewrite/qdq/passes.h"

namespace mlopt::graphopt {

namespace {

/// 1: the same numbers, but for the order of sums. 2: rounded otherwise, within tolerance. 3: what only a target runs.
struct Line {
  int level;
  const Pass* pass;
};

constexpr Line kRecognizing[] = {
    {1, &inline_functions_pass},
    {1, &split_fused_operators},
    {1, &split_contrib_gelu},
    {1, &split_contrib_norm},
    {1, &replace_experimental},
    // One form of constants first: every later rule asks for initializers.
    {1, &inputs_to_initializers},
    {1, &constant_to_initializer},
    // Before folding, which would copy the weight that one carries.
    {1, &eliminate_identity},
    {1, &loop_invariants},
    {1, &loop_counters},
    {1, &fold_shapes},
    {1, &fold_constants},
    {1, &fold_quantization},
    {1, &inline_if},
    {1, &unroll_loops},
    {1, &eliminate_sequences},
    // What does nothing, before patterns that it would hide.
    {1, &eliminate_dropout},
    {1, &eliminate_nop_cast},
    {1, &merge_casts},
    {1, &fold_cast_into_fill},
    {1, &materialize_reshape_shape},
    {1, &eliminate_nop_reshape},
    {1, &push_shapes},
    {1, &sizes_from_inputs},
    {1, &merge_reshapes},
    {1, &materialize_expand_shape},
    {1, &eliminate_nop_transpose},
    {1, &merge_transposes},
    {1, &eliminate_nop_pad},
    {1, &eliminate_nop_slice},
    {1, &narrow_slices},
    {1, &eliminate_nop_concat},
    {1, &eliminate_nop_expand},
    {1, &eliminate_nop_arithmetic},
    {1, &eliminate_requantization},
    {1, &eliminate_nop_split},
    {1, &eliminate_nop_tile},
    {1, &eliminate_concat_of_split},
    {1, &eliminate_split_of_concat},
    {1, &eliminate_slice_of_concat},
    {1, &eliminate_zero_state},
    {1, &read_last_state},
    {1, &eliminate_unused_outputs},
    {1, &eliminate_nop_resize},
    {1, &eliminate_nop_pool},
    {1, &eliminate_nop_reduce},
    {1, &eliminate_nop_where},
    {1, &eliminate_double_negation},
    {1, &eliminate_idempotent},
    {1, &eliminate_common_subexpressions},
    {1, &fold_reshape_into_reduction},
    {1, &eliminate_reshapes_of_softmax},
    {1, &fusion::shrink_constants},
    {1, &fusion::fuse_conditions},
    {2, &fusion::fuse_where},
    {1, &eliminate_index_wrap},
    {1, &scatter_to_concat},
    {1, &masked_scatter_to_where},
    // What is spelt out for each step of time.
    {2, &fuse_gru},
    {2, &fuse_lstm},
    {2, &fuse_rnn},
    {1, &stack_of_pieces_to_transpose},
    {1, &stack_of_windows_to_gather},
    {1, &reverse_sequence_to_slice},
    {1, &reverse_recurrence},
    {1, &merge_steps},
    {1, &fold_abs},
    // Products that are spelt otherwise.
    {1, &split_einsum},
    {1, &replace_einsum},
    {2, &sum_to_mean},
    // What exporters spell out, before what merges its parts with others.
    {2, &fusion::fuse_sigmoid},
    {2, &fusion::fuse_gelu},
    {2, &fusion::fuse_swish},
    {2, &fusion::fuse_hard_swish},
    {2, &fusion::fuse_mish},
    {2, &fusion::fuse_prelu},
    {2, &fusion::fuse_softmax},
    {2, &fusion::fuse_log_softmax},
    {2, &eliminate_nop_monotone_argmax},
    {1, &fusion::fuse_depth_to_space},
    {1, &fusion::fuse_channel_shuffle},
    {2, &fusion::fuse_layer_norm},
    {2, &fusion::fuse_rows_norm},
    {2, &fusion::simplify_std},
    {3, &fusion::fuse_channel_norm},
    {2, &fusion::fuse_last_groups_norm},
    {2, &fusion::fuse_group_norm},
    {2, &fusion::fuse_l2_norm},
    {2, &fusion::fold_casts_into_norm},
    {2, &fusion::fold_scale_into_norm},
    {3, &fusion::fuse_embed_norm},
    {kOnRequest, &fusion::fuse_skip_norm},
    {1, &fusion::fold_known_mask},
    {1, &eliminate_redundant_expand},
    {1, &gather_nd_to_slice},
    // Heads in the one way that attention is found in; first what is taken apart, which longer ways would hide.
    {1, &sort_head_parts},
    {1, &gathers_to_split},
    {1, &merge_layouts},
    {1, &fusion::fuse_window_mask},
    {2, &fusion::fuse_hidden_scores},
    {1, &fusion::fuse_shared_masks},
    {1, &drop_unit_axes},
    {1, &push_reshapes},
    {1, &push_reshapes_to_products},
    {1, &merge_layouts_of_matmul},
    {1, &push_transposes_to_heads},
    {1, &gemm_of_rows_to_matmul},
    {1, &stack_to_concat},
    {2, &fusion::fuse_rope},
    {2, &fusion::fuse_rope_interleaved},
    {2, &fusion::fuse_rope_part},
    {2, &fusion::fuse_head_rows},
    {1, &fusion::expand_rotary_tables},
    {1, &fusion::part_joined_scores},
    {1, &fusion::move_head_scales},
    {2, &fusion::fuse_attention},
    {1, &fusion::fuse_attention_heads},
    {1, &eliminate_common_shapes},
    {1, &concat_to_shape},
};

constexpr Line kMerging[] = {
    // Once attention is found, with all its queries.
    {1, &select_rows_first},
    {2, &push_expands},
    // What attention was not found in.
    {1, &fusion::part_joined_heads},
    // Arithmetic into weights.
    {1, &explicit_auto_pad},
    {1, &fuse_pad_into_conv},
    {1, &fuse_pad_into_pool},
    {2, &fold_batchnorm_into_conv},
    {2, &fold_mul_into_conv},
    {2, &fold_add_into_conv},
    {2, &merge_parallel_convs},
    {2, &fold_identity_into_conv},
    {1, &fuse_matmul_add_into_gemm},
    {1, &fuse_transpose_into_gemm},
    {2, &fold_affine_into_gemm},
    {2, &fold_affine_into_next_conv},
    {2, &fold_affine_into_matmul},
    {2, &merge_matmuls},
    {kOnRequest, &merge_shared_matmuls},
    // Fewer operators for the same.
    {1, &fold_where_into_concat},
    {1, &fold_into_shape},
    {1, &fold_not_into_where},
    {1, &min_max_to_clip},
    {1, &merge_clips},
    {1, &merge_reductions},
    {1, &reduction_to_global_pool},
    {1, &average_pool_to_global},
    {1, &merge_squeezes},
    {1, &merge_slices},
    {1, &merge_concats},
    {1, &gather_to_slice},
    {1, &fuse_space_to_depth},
    {1, &slices_to_split},
    {1, &concat_of_pieces_to_transpose},
    {1, &rolls_to_gather},
    {1, &qdq::gather_before_dequantize},
    {2, &merge_constant_arithmetic},
    {1, &fold_neg},
    {2, &simplify_pow},
    {2, &fold_reciprocal},
    {1, &div_to_mul},
    {2, &fuse_gemm_sum},
    {1, &push_transposes},
    {1, &hoist_transposes},
    {1, &transpose_to_reshape},
    {3, &fusion::add_before_norm_to_sum},
    {3, &fusion::fuse_bias_fast_gelu},
    {kOnRequest, &fusion::fuse_bias_gelu},
    {3, &fusion::add_before_gelu_to_sum},
    {3, &fusion::fuse_conv_sum},
    {3, &fusion::fuse_conv_activation},
    {3, &fusion::fuse_gemm_activation},
    {3, &fusion::fuse_matmul_transpose},
    {3, &fusion::fuse_matmul_scale},
    // Last: what the others left behind.
    {1, &eliminate_dead_code},
    {1, &eliminate_duplicate_initializers},
};

void append(std::span<const Line> lines, std::vector<const Pass*>& all) {
  for (const Line& line : lines) all.push_back(line.pass);
}

}  // namespace

std::vector<const Pass*> recognizing_passes() {
  std::vector<const Pass*> all;
  append(kRecognizing, all);
  return all;
}

std::vector<const Pass*> all_passes() {
  std::vector<const Pass*> all = recognizing_passes();
  append(kMerging, all);
  return all;
}

int level_of(const Pass& pass) {
  for (const auto& lines : {std::span<const Line>(kRecognizing), std::span<const Line>(kMerging)})
    for (const Line& line : lines)
      if (line.pass == &pass) return line.level;
  internal_error("the pass has no level", std::string(pass.name));
}

}  // namespace mlopt::graphopt
