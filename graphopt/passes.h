#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::graphopt {

/// Every pass that `fuse` knows, in the order in which it runs; the order is meaning, see passes.cc.
std::vector<const Pass*> all_passes();
/// The first of them: they clean, and find what exporters spell out. `fuse` brings these to rest before the others,
/// which merge what would not be found any more.
std::vector<const Pass*> recognizing_passes();
/// The lowest level of `fuse -O` at which the pass runs: 1 where the numbers stay the same but for the order of sums, 2
/// where they are rounded otherwise, 3 where it writes what only a target runs; kOnRequest where it must be named.
int level_of(const Pass& pass);
/// Of passes that pay on some devices only.
inline constexpr int kOnRequest = 4;

// One for each file in passes/.
extern const Pass inline_functions_pass;  // inline_functions() is taken
extern const Pass eliminate_identity;
extern const Pass eliminate_index_wrap;
extern const Pass scatter_to_concat;
extern const Pass masked_scatter_to_where;
extern const Pass eliminate_dropout;
extern const Pass eliminate_nop_cast;
extern const Pass eliminate_nop_reshape;
extern const Pass eliminate_nop_transpose;
extern const Pass eliminate_nop_pad;
extern const Pass eliminate_nop_slice;
extern const Pass eliminate_nop_concat;
extern const Pass eliminate_nop_expand;
extern const Pass eliminate_nop_arithmetic;
extern const Pass constant_to_initializer;
extern const Pass fold_constants;
extern const Pass fold_quantization;
extern const Pass fold_integers;  // for graphs whose floats may be trained: not in all_passes()
extern const Pass fold_shapes;
extern const Pass eliminate_common_subexpressions;
extern const Pass eliminate_duplicate_initializers;
extern const Pass eliminate_dead_code;
extern const Pass merge_casts;
extern const Pass merge_reshapes;
extern const Pass merge_transposes;
extern const Pass materialize_reshape_shape;
extern const Pass fold_batchnorm_into_conv;
extern const Pass fold_mul_into_conv;
extern const Pass fold_add_into_conv;
extern const Pass fold_identity_into_conv;
extern const Pass fold_affine_into_gemm;
extern const Pass fuse_matmul_add_into_gemm;
extern const Pass fuse_space_to_depth;
extern const Pass fuse_transpose_into_gemm;
extern const Pass fuse_pad_into_conv;
extern const Pass fuse_pad_into_pool;
extern const Pass eliminate_nop_split;
extern const Pass eliminate_nop_resize;
extern const Pass eliminate_nop_pool;
extern const Pass eliminate_nop_reduce;
extern const Pass eliminate_nop_monotone_argmax;
extern const Pass eliminate_nop_where;
extern const Pass eliminate_double_negation;
extern const Pass eliminate_idempotent;
extern const Pass fold_not_into_where;
extern const Pass min_max_to_clip;
extern const Pass merge_clips;
extern const Pass merge_reductions;
extern const Pass fold_reshape_into_reduction;
extern const Pass eliminate_reshapes_of_softmax;
extern const Pass sum_to_mean;
extern const Pass reduction_to_global_pool;
extern const Pass average_pool_to_global;
extern const Pass materialize_expand_shape;
extern const Pass eliminate_nop_tile;
extern const Pass eliminate_concat_of_split;
extern const Pass eliminate_split_of_concat;
extern const Pass eliminate_slice_of_concat;
extern const Pass eliminate_unused_outputs;
extern const Pass eliminate_common_shapes;
extern const Pass concat_to_shape;
extern const Pass merge_squeezes;
extern const Pass merge_slices;
extern const Pass merge_steps;
extern const Pass merge_concats;
extern const Pass gather_nd_to_slice;
extern const Pass gather_to_slice;
extern const Pass select_rows_first;
extern const Pass concat_of_pieces_to_transpose;
extern const Pass eliminate_zero_state;
extern const Pass fuse_gru;
extern const Pass fuse_lstm;
extern const Pass fuse_rnn;
extern const Pass narrow_slices;
extern const Pass read_last_state;
extern const Pass sizes_from_inputs;
extern const Pass stack_of_pieces_to_transpose;
extern const Pass stack_of_windows_to_gather;
extern const Pass reverse_sequence_to_slice;
extern const Pass reverse_recurrence;
extern const Pass stack_to_concat;
extern const Pass slices_to_split;
extern const Pass merge_constant_arithmetic;
extern const Pass fold_neg;
extern const Pass fold_abs;
extern const Pass simplify_pow;
extern const Pass fold_reciprocal;
extern const Pass div_to_mul;
extern const Pass eliminate_redundant_expand;
extern const Pass fuse_gemm_sum;
extern const Pass hoist_transposes;
extern const Pass push_transposes;
extern const Pass transpose_to_reshape;
extern const Pass unroll_loops;
extern const Pass eliminate_sequences;
extern const Pass fold_cast_into_fill;
extern const Pass eliminate_requantization;
extern const Pass explicit_auto_pad;
extern const Pass fold_affine_into_next_conv;
extern const Pass fold_affine_into_matmul;
extern const Pass merge_matmuls;
extern const Pass merge_parallel_convs;
extern const Pass merge_shared_matmuls;
extern const Pass replace_einsum;
extern const Pass inputs_to_initializers;
extern const Pass merge_layouts;
extern const Pass merge_layouts_of_matmul;
extern const Pass push_expands;
extern const Pass drop_unit_axes;
extern const Pass push_reshapes;
extern const Pass push_reshapes_to_products;
extern const Pass push_shapes;
extern const Pass rolls_to_gather;
extern const Pass gathers_to_split;
extern const Pass sort_head_parts;
extern const Pass split_contrib_gelu;
extern const Pass split_contrib_norm;
extern const Pass split_einsum;
extern const Pass split_fused_operators;
extern const Pass replace_experimental;
extern const Pass fold_where_into_concat;
extern const Pass fold_into_shape;
extern const Pass push_transposes_to_heads;
extern const Pass gemm_of_rows_to_matmul;

}  // namespace mlopt::graphopt
