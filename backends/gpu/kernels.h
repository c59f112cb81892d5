#pragma once
#include <span>
#include <vector>

#include "core/exec/kernel.h"

namespace mlopt::gpu {

/// One span of kernels for each operator family, in the file of the same name.
std::span<const Kernel> along_kernels();
std::span<const Kernel> arith_kernels();
std::span<const Kernel> attention_kernels();
std::span<const Kernel> batch_norm_kernels();
std::span<const Kernel> cast_kernels();
std::span<const Kernel> chain_kernels();
std::span<const Kernel> code_map_kernels();
std::span<const Kernel> col2im_kernels();
std::span<const Kernel> conv_kernels();
std::span<const Kernel> conv_grad_kernels();
std::span<const Kernel> conv_library_kernels();
std::span<const Kernel> copy_kernels();
std::span<const Kernel> counted_kernels();
std::span<const Kernel> deform_conv_kernels();
std::span<const Kernel> eltwise_kernels();
std::span<const Kernel> fake_quantize_kernels();
std::span<const Kernel> float8_kernels();
std::span<const Kernel> fourier_kernels();
std::span<const Kernel> gather_kernels();
std::span<const Kernel> gather_grad_kernels();
std::span<const Kernel> gram_kernels();
std::span<const Kernel> grid_sample_kernels();
std::span<const Kernel> group_query_kernels();
std::span<const Kernel> gru_kernels();
std::span<const Kernel> gru_grad_kernels();
std::span<const Kernel> host_copy_kernels();
std::span<const Kernel> integer_kernels();
std::span<const Kernel> integer_conv_kernels();
std::span<const Kernel> levels_kernels();
std::span<const Kernel> lstm_kernels();
std::span<const Kernel> lstm_grad_kernels();
std::span<const Kernel> matmul_kernels();
std::span<const Kernel> narrow_cast_kernels();
std::span<const Kernel> nbits_kernels();
std::span<const Kernel> norm_kernels();
std::span<const Kernel> optimizer_kernels();
std::span<const Kernel> pad_kernels();
std::span<const Kernel> pool_kernels();
std::span<const Kernel> quantize_kernels();
std::span<const Kernel> reduce_kernels();
std::span<const Kernel> region_kernels();
std::span<const Kernel> reshape_kernels();
std::span<const Kernel> resize_kernels();
std::span<const Kernel> rotary_kernels();
std::span<const Kernel> rows_grad_kernels();
std::span<const Kernel> scatter_kernels();
std::span<const Kernel> seeded_dropout_kernels();
std::span<const Kernel> softmax_kernels();
std::span<const Kernel> sparse_kernels();
std::span<const Kernel> top_kernels();
std::span<const Kernel> unary_grad_kernels();

/// Is there a kernel for the operator?
bool is_runnable(const Node& node);

/// What a device has that not every one has.
struct Extras {
  bool convolver = false;  ///< a library of convolutions
  bool sparse = false;     ///< one of products with weights two in four of which are zero
};

/// All of them, in the order in which they are asked. They run where shapes are known, in a plan, only.
std::vector<Kernel> all_kernels(const Extras& extras = {});

}  // namespace mlopt::gpu
