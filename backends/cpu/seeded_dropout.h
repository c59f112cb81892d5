#pragma once
#include <span>

#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// Dropout whose mask follows from keys of the samples, for training: see core/train/dropout.h.
std::span<const Kernel> seeded_dropout_kernels();

}  // namespace mlopt::cpu
