#include "graphopt/aliases.h"

#include "core/base/text.h"

namespace mlopt::graphopt {
namespace {

struct Alias {
  std::string_view name;
  std::string_view passes;  ///< ours that do the same, separated by spaces; none: it is so in every result
};

// By whose name it is. A name that two of them use stands once; those that are ours too are not listed.
constexpr Alias kAliases[] = {
    // onnx/optimizer and onnxsim
    {"eliminate_nop_dropout", "eliminate_dropout"},
    {"eliminate_nop_flatten", "eliminate_nop_reshape"},
    {"eliminate_nop_with_unit", "eliminate_nop_arithmetic"},
    {"eliminate_if_with_const_cond", "inline_if"},
    {"eliminate_loop_with_const_trip_count", "unroll_loops"},
    {"eliminate_shape_gather", "fold_shapes eliminate_common_shapes"},
    {"eliminate_slice_after_shape", "fold_shapes eliminate_common_shapes"},
    {"eliminate_shape_op", "fold_shapes eliminate_common_shapes"},
    {"eliminate_common_subexpression", "eliminate_common_subexpressions"},
    {"eliminate_deadend", "eliminate_dead_code"},
    {"eliminate_unused_initializer", "eliminate_dead_code"},
    {"eliminate_duplicate_initializer", "eliminate_duplicate_initializers"},
    {"eliminate_consecutive_idempotent_ops", "eliminate_idempotent merge_clips"},
    {"eliminate_sequence", "eliminate_sequences"},
    {"fuse_add_bias_into_conv", "fold_add_into_conv"},
    {"fuse_bn_into_conv", "fold_batchnorm_into_conv"},
    {"fuse_consecutive_concats", "merge_concats"},
    {"fuse_consecutive_reduce", "merge_reductions"},
    {"fuse_consecutive_reduce_unsqueeze", "fold_reshape_into_reduction"},
    {"fuse_consecutive_squeezes", "merge_squeezes"},
    {"fuse_consecutive_unsqueezes", "merge_squeezes"},
    {"fuse_consecutive_squeeze_unsqueeze", "merge_reshapes"},
    {"fuse_consecutive_reshapes", "merge_reshapes"},
    {"fuse_reshape_family", "merge_reshapes"},
    {"fuse_consecutive_transposes", "merge_transposes"},
    {"fuse_consecutive_slices", "merge_slices"},
    {"fuse_consecutive_mul", "merge_constant_arithmetic"},
    {"fuse_concat_into_reshape", "materialize_reshape_shape"},
    {"fuse_matmul_add_bias_into_gemm", "fuse_matmul_add_into_gemm"},
    {"fuse_qkv", "merge_shared_matmuls"},
    {"fuse_mul_into_conv", "fold_mul_into_conv fold_affine_into_next_conv"},
    {"extract_constant_to_initializer", "constant_to_initializer"},
    {"replace_einsum_with_matmul", "split_einsum replace_einsum"},
    {"rewrite_where", "fold_not_into_where"},
    {"adjust_slice_and_matmul", "select_rows_first"},
    {"fuse_consecutive_log_softmax", "fuse_log_softmax"},
    {"fuse_matmul_add_bias_into_gemm_batched", "fuse_matmul_add_into_gemm"},
    {"fuse_matmul_into_conv", "merge_matmuls"},
    {"fuse_rms_norm", "fuse_layer_norm"},
    {"fuse_gqa", "fuse_attention"},
    {"adjust_add", ""},  // patterns take operands in either order
    {"lift_lexical_references", ""},
    {"nop", ""},
    {"rename_input_output", ""},  // inputs and outputs keep their names
    {"set_unique_name_for_nodes", ""},
    // OnnxSlim
    {"constant_folding", "fold_constants fold_shapes"},
    {"dead_node_elimination", "eliminate_dead_code"},
    {"graph_fusion", "fuse_* fold_*_into_*"},
    {"subexpression_elimination", "eliminate_common_subexpressions"},
    {"weight_tying", "eliminate_duplicate_initializers"},
    {"FusionPadConv", "fuse_pad_into_conv"},
    {"FusionConvBN", "fold_batchnorm_into_conv"},
    {"FusionConvTransposeBN", "fold_batchnorm_into_conv"},
    {"FusionConvAdd", "fold_add_into_conv"},
    {"FusionConvTransposeAdd", "fold_add_into_conv"},
    {"FusionConvMul", "fold_mul_into_conv"},
    {"FusionConvTransposeMul", "fold_mul_into_conv"},
    {"FusionGemmMul", "fold_affine_into_gemm"},
    {"FusionGemmAdd", "fold_affine_into_gemm"},
    {"FusionReduce", "fold_reshape_into_reduction"},
    {"FusionConcatReshape", "materialize_reshape_shape"},
    {"EliminationConcat", "merge_concats"},
    {"EliminationReshape", "merge_reshapes"},
    {"EliminationSlice", "merge_slices"},
    {"EliminationTranspose", "merge_transposes"},
    {"EliminationUnsqueeze", "merge_squeezes"},
    // ONNX Runtime
    {"EliminateIdentity", "eliminate_identity"},
    {"EliminateSlice", "eliminate_nop_slice"},
    {"UnsqueezeElimination", "fold_constants"},
    {"EliminateDropout", "eliminate_dropout"},
    {"ExpandElimination", "eliminate_nop_expand"},
    {"CastElimination", "eliminate_nop_cast"},
    {"CastChainElimination", "merge_casts"},
    {"PreShapeNodeElimination", "eliminate_common_shapes"},
    {"NoopElimination", "eliminate_nop_arithmetic"},
    {"DivMulFusion", "fold_reciprocal"},
    {"FuseReluClip", "merge_clips"},
    {"GemmSumFusion", "fuse_gemm_sum"},
    {"GemmTransposeFusion", "fuse_transpose_into_gemm"},
    {"NotWhereFusion", "fold_not_into_where"},
    {"ConvAddFusion", "fold_add_into_conv"},
    {"ConvMulFusion", "fold_mul_into_conv"},
    {"ConvBNFusion", "fold_batchnorm_into_conv"},
    {"PadFusion", "fuse_pad_into_conv fuse_pad_into_pool"},
    {"MatmulBNFusion", "fold_affine_into_matmul"},
    {"DoubleQDQPairsRemover", "eliminate_requantization"},
    {"ConstantSharing", "eliminate_duplicate_initializers"},
    {"CommonSubexpressionElimination", "eliminate_common_subexpressions"},
    {"ConstantFolding", "fold_constants fold_shapes"},
    {"MatMulAddFusion", "fuse_matmul_add_into_gemm"},
    {"ReshapeFusion", "materialize_reshape_shape"},
    {"TransposeOptimizer", "push_transposes merge_transposes eliminate_nop_transpose"},
    {"GatherToSliceFusion", "gather_to_slice"},
    {"GatherSliceToSplitFusion", "slices_to_split"},
    {"MatMulScaleFusion", "fold_affine_into_matmul"},
    // onnxscript
    {"cast_constant_of_shape", "fold_cast_into_fill"},
    {"collapse_slices", "merge_slices eliminate_nop_slice"},
    {"relus_clips", "merge_clips"},
    {"cast_cast", "merge_casts"},
    {"reshape_reshape", "merge_reshapes"},
    {"transpose_transpose", "merge_transposes"},
    {"unsqueeze_unsqueeze", "merge_squeezes"},
    {"slice_split", "slices_to_split"},
    {"expand_before_binary_op", "eliminate_redundant_expand"},
};

}  // namespace

std::optional<std::vector<std::string>> passes_of_alias(std::string_view name) {
  for (const Alias& alias : kAliases)
    if (alias.name == name) return alias.passes.empty() ? std::vector<std::string>{} : split(alias.passes, ' ');
  return std::nullopt;
}

std::vector<std::string> aliases() {
  std::vector<std::string> names;
  for (const Alias& alias : kAliases) names.emplace_back(alias.name);
  return names;
}

}  // namespace mlopt::graphopt
