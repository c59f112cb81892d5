#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/exec/kernel.h"

namespace mlopt::reference {

/// One span of kernels for each operator family, in the file of the same name.
std::span<const Kernel> activation_kernels();
std::span<const Kernel> along_axis_kernels();
std::span<const Kernel> attention_kernels();
std::span<const Kernel> beam_search_kernels();
std::span<const Kernel> binary_kernels();
std::span<const Kernel> cast_kernels();
std::span<const Kernel> chain_kernels();
std::span<const Kernel> concat_split_kernels();
std::span<const Kernel> constant_kernels();
std::span<const Kernel> contrib_attention_kernels();
std::span<const Kernel> contrib_fused_kernels();
std::span<const Kernel> contrib_qembed_kernels();
std::span<const Kernel> contrib_qlstm_kernels();
std::span<const Kernel> contrib_qmatmul_kernels();
std::span<const Kernel> contrib_quant_kernels();
std::span<const Kernel> contrib_weight_only_kernels();
std::span<const Kernel> control_flow_kernels();
std::span<const Kernel> conv_kernels();
std::span<const Kernel> conv_grad_kernels();
std::span<const Kernel> conv_transpose_kernels();
std::span<const Kernel> crop_and_resize_kernels();
std::span<const Kernel> deform_conv_kernels();
std::span<const Kernel> einsum_kernels();
std::span<const Kernel> fake_quantize_kernels();
std::span<const Kernel> flex_attention_kernels();
std::span<const Kernel> gather_kernels();
std::span<const Kernel> gather_grad_kernels();
std::span<const Kernel> gemm_op_kernels();
std::span<const Kernel> grid_sample_kernels();
std::span<const Kernel> group_query_attention_kernels();
std::span<const Kernel> gru_kernels();
std::span<const Kernel> gru_grad_kernels();
std::span<const Kernel> image_kernels();
std::span<const Kernel> layer_normalization_kernels();
std::span<const Kernel> legacy_kernels();
std::span<const Kernel> linear_attention_kernels();
std::span<const Kernel> logic_kernels();
std::span<const Kernel> loss_kernels();
std::span<const Kernel> loss_grad_kernels();
std::span<const Kernel> lstm_kernels();
std::span<const Kernel> lstm_grad_kernels();
std::span<const Kernel> matmul_kernels();
std::span<const Kernel> ml_encode_kernels();
std::span<const Kernel> ml_linear_kernels();
std::span<const Kernel> ml_map_kernels();
std::span<const Kernel> ml_svm_kernels();
std::span<const Kernel> ml_tree_ensemble_kernels();
std::span<const Kernel> multi_head_attention_kernels();
std::span<const Kernel> nms_kernels();
std::span<const Kernel> norm_grad_kernels();
std::span<const Kernel> normalization_kernels();
std::span<const Kernel> optimizer_kernels();
std::span<const Kernel> pad_kernels();
std::span<const Kernel> pool_kernels();
std::span<const Kernel> pool_grad_kernels();
std::span<const Kernel> qlinear_kernels();
std::span<const Kernel> quantize_kernels();
std::span<const Kernel> random_kernels();
std::span<const Kernel> reduce_kernels();
std::span<const Kernel> resize_kernels();
std::span<const Kernel> resize_grad_kernels();
std::span<const Kernel> rnn_kernels();
std::span<const Kernel> rnn_grad_kernels();
std::span<const Kernel> roi_kernels();
std::span<const Kernel> rotary_kernels();
std::span<const Kernel> scan_kernels();
std::span<const Kernel> scatter_kernels();
std::span<const Kernel> sequence_kernels();
std::span<const Kernel> shape_kernels();
std::span<const Kernel> signal_kernels();
std::span<const Kernel> slice_kernels();
std::span<const Kernel> softmax_kernels();
std::span<const Kernel> softmax_grad_kernels();
std::span<const Kernel> sort_kernels();
std::span<const Kernel> strings_kernels();
std::span<const Kernel> tfidf_kernels();
std::span<const Kernel> training_kernels();
std::span<const Kernel> transpose_kernels();
std::span<const Kernel> unary_kernels();
std::span<const Kernel> unary_grad_kernels();
std::span<const Kernel> unpool_kernels();
std::span<const Kernel> window_kernels();

/// All of them, in the order in which they are searched.
std::vector<Kernel> all_kernels();

}  // namespace mlopt::reference
