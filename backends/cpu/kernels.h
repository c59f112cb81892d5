#pragma once
#include <span>
#include <vector>

#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// Of kernels that give the elements of input 0 to their outputs as they are.
inline Bf16Rule passes_first(const Node&) { return {.passes = 1}; }

/// One span of kernels for each operator family, in the file of the same name.
std::span<const Kernel> arg_max_kernels();
std::span<const Kernel> attention_kernels();
std::span<const Kernel> batch_norm_train_kernels();
std::span<const Kernel> binary_kernels();
std::span<const Kernel> block_matmul_kernels();
std::span<const Kernel> cast_kernels();
std::span<const Kernel> chain_kernels();
std::span<const Kernel> compare_kernels();
std::span<const Kernel> concat_kernels();
std::span<const Kernel> conv_bf16_kernels();
std::span<const Kernel> conv_depthwise_kernels();
std::span<const Kernel> conv_first_kernels();
std::span<const Kernel> conv_grad_kernels();
std::span<const Kernel> conv_kernels();
std::span<const Kernel> conv_line_kernels();
std::span<const Kernel> conv_point_kernels();
std::span<const Kernel> conv_transpose_kernels();
std::span<const Kernel> conv_winograd_kernels();
std::span<const Kernel> cumulative_sum_kernels();
std::span<const Kernel> deform_conv_kernels();
std::span<const Kernel> elements_kernels();
std::span<const Kernel> eltwise_kernels();
std::span<const Kernel> expand_kernels();
std::span<const Kernel> fake_quantize_kernels();
std::span<const Kernel> fourier_kernels();
std::span<const Kernel> gather_grad_kernels();
std::span<const Kernel> gather_kernels();
std::span<const Kernel> grid_sample_kernels();
std::span<const Kernel> group_query_kernels();
std::span<const Kernel> layer_norm_grad_kernels();
std::span<const Kernel> layer_norm_kernels();
std::span<const Kernel> local_response_kernels();
std::span<const Kernel> lp_norm_kernels();
std::span<const Kernel> matmul_kernels();
std::span<const Kernel> max_pool_indices_kernels();
std::span<const Kernel> max_unpool_kernels();
std::span<const Kernel> non_max_suppression_kernels();
std::span<const Kernel> non_zero_kernels();
std::span<const Kernel> normalization_kernels();
std::span<const Kernel> optimizer_kernels();
std::span<const Kernel> pad_kernels();
std::span<const Kernel> pool_grad_kernels();
std::span<const Kernel> pool_kernels();
std::span<const Kernel> power_kernels();
std::span<const Kernel> qconv_kernels();
std::span<const Kernel> conv_integer_kernels();
std::span<const Kernel> qmatmul_kernels();
std::span<const Kernel> qpointwise_kernels();
std::span<const Kernel> quantize_linear_kernels();
std::span<const Kernel> reduce_kernels();
std::span<const Kernel> reshape_kernels();
std::span<const Kernel> resize_kernels();
std::span<const Kernel> rnn_kernels();
std::span<const Kernel> roi_align_kernels();
std::span<const Kernel> slice_kernels();
std::span<const Kernel> softmax_grad_kernels();
std::span<const Kernel> softmax_kernels();
std::span<const Kernel> top_k_kernels();
std::span<const Kernel> transpose_kernels();
std::span<const Kernel> tuples_kernels();
std::span<const Kernel> trigonometry_kernels();
std::span<const Kernel> unary_grad_kernels();
std::span<const Kernel> variadic_kernels();
std::span<const Kernel> where_kernels();

/// All of them, in the order in which they are searched.
std::vector<Kernel> all_kernels();

}  // namespace mlopt::cpu
