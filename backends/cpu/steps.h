#pragma once
#include <vector>

#include "core/exec/kernel.h"

namespace mlopt {

/// What runs single nodes as the CPU backend does, on tensors, for a backend that has memory of its own: none of these
/// kernels plans. There are none on a processor without SSE4.1.
std::vector<Kernel> cpu_steps();

}  // namespace mlopt
