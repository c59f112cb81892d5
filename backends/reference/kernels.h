#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/exec/kernel.h"

namespace mlopt::reference {

/// One span of kernels for each operator family, in the file of the same name.
std::span<const Kernel> activation_kernels();
std::span<const Kernel> along_axis_kernels();
std::span<const Kernel> binary_kernels();
std::span<const Kernel> cast_kernels();
std::span<const Kernel> logic_kernels();
std::span<const Kernel> reduce_kernels();
std::span<const Kernel> softmax_kernels();
std::span<const Kernel> unary_kernels();

/// All of them, in the order in which they are searched.
std::vector<Kernel> all_kernels();

}  // namespace mlopt::reference
