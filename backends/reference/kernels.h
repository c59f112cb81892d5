#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/exec/kernel.h"

namespace mlopt::reference {

/// One span of kernels for each operator family, in the file of the same name.

/// All of them, in the order in which they are searched.
std::vector<Kernel> all_kernels();

}  // namespace mlopt::reference
