#pragma once
#include "core/rewrite/pass.h"

// What exporters spell with many operators as the one operator that it means. `fuse` runs these passes for what it
// writes, the CPU backend for what it runs: the target decides which operators may be written. One pass for each file.
namespace mlopt::fusion {

extern const Pass shrink_constants;
extern const Pass conditions;
extern const Pass where;
extern const Pass sigmoid;
extern const Pass gelu;
extern const Pass swish;
extern const Pass window_mask;
extern const Pass hard_swish;
extern const Pass mish;
extern const Pass prelu;
extern const Pass softmax;
extern const Pass depth_to_space;
extern const Pass channel_shuffle;
extern const Pass layer_norm;
extern const Pass rows_norm;
extern const Pass std_norm;
extern const Pass channel_norm;
extern const Pass group_norm;
extern const Pass last_groups_norm;
extern const Pass l2_norm;
extern const Pass norm_casts;
extern const Pass norm_scale;
extern const Pass bias_gelu;
extern const Pass bias_fast_gelu;
extern const Pass skip_norm;
extern const Pass norm_sum;
extern const Pass gelu_sum;
extern const Pass conv_sum;
extern const Pass conv_activation;
extern const Pass gemm_activation;
extern const Pass matmul_scale;
extern const Pass matmul_transpose;
extern const Pass embed_norm;
extern const Pass known_mask;
extern const Pass hidden_scores;
extern const Pass shared_masks;
extern const Pass rope;
extern const Pass rope_interleaved;
extern const Pass rope_part;
extern const Pass head_rows;
extern const Pass rotary_tables;
extern const Pass attention;
extern const Pass attention_heads;
extern const Pass joined_heads;
extern const Pass joined_scores;
extern const Pass head_scales;

}  // namespace mlopt::fusion
