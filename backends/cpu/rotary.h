#pragma once
#include <span>

#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// RotaryEmbedding of both domains, float32.
std::span<const Kernel> rotary_kernels();

}  // namespace mlopt::cpu
