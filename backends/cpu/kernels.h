#pragma once
#include <span>
#include <vector>

#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// All of them, in the order in which they are searched.
std::vector<Kernel> all_kernels();

}  // namespace mlopt::cpu
