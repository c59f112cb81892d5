#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/exec/kernel.h"

namespace mlopt::reference {

/// One span of kernels for each operator family, in the file of the same name.
std::span<const Kernel> matmul_kernels();
std::span<const Kernel> gemm_op_kernels();
std::span<const Kernel> conv_kernels();
std::span<const Kernel> conv_transpose_kernels();
std::span<const Kernel> pool_kernels();
std::span<const Kernel> rnn_kernels();
std::span<const Kernel> gru_kernels();
std::span<const Kernel> lstm_kernels();

/// All of them, in the order in which they are searched.
std::vector<Kernel> all_kernels();

}  // namespace mlopt::reference
