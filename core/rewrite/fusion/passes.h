#pragma once
#include "core/rewrite/pass.h"

// What exporters spell with many operators as the one operator that it means. `fuse` runs these passes for what it
// writes, the CPU backend for what it runs: the target decides which operators may be written. One pass for each file.
namespace mlopt::fusion {

extern const Pass shrink_constants;
extern const Pass fuse_conditions;
extern const Pass fuse_where;
extern const Pass fuse_sigmoid;
extern const Pass fuse_gelu;
extern const Pass fuse_swish;
extern const Pass fuse_window_mask;
extern const Pass fuse_hard_swish;
extern const Pass fuse_mish;
extern const Pass fuse_prelu;
extern const Pass fuse_softmax;
extern const Pass fuse_log_softmax;
extern const Pass fuse_depth_to_space;
extern const Pass fuse_channel_shuffle;
extern const Pass fuse_layer_norm;
extern const Pass fuse_rows_norm;
extern const Pass simplify_std;
extern const Pass fuse_channel_norm;
extern const Pass fuse_group_norm;
extern const Pass fuse_last_groups_norm;
extern const Pass fuse_l2_norm;
extern const Pass fold_casts_into_norm;
extern const Pass fold_scale_into_norm;
extern const Pass fuse_bias_gelu;
extern const Pass fuse_bias_fast_gelu;
extern const Pass fuse_skip_norm;
extern const Pass add_before_norm_to_sum;
extern const Pass add_before_gelu_to_sum;
extern const Pass fuse_conv_sum;
extern const Pass fuse_conv_activation;
extern const Pass fuse_gemm_activation;
extern const Pass fuse_matmul_scale;
extern const Pass fuse_matmul_transpose;
extern const Pass fuse_embed_norm;
extern const Pass fold_known_mask;
extern const Pass fuse_hidden_scores;
extern const Pass fuse_shared_masks;
extern const Pass fuse_rope;
extern const Pass fuse_rope_interleaved;
extern const Pass fuse_rope_part;
extern const Pass fuse_head_rows;
extern const Pass expand_rotary_tables;
extern const Pass fuse_attention;
extern const Pass fuse_attention_heads;
extern const Pass part_joined_heads;
extern const Pass part_joined_scores;
extern const Pass move_head_scales;

}  // namespace mlopt::fusion
