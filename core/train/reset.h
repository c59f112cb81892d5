#pragma once
#include <cstdint>

#include "core/ir/model.h"

namespace mlopt::train {

/// Random weights in place of those of the model, by what each is for: uniform within 1 / sqrt(fan-in) for products,
/// convolutions, recurrent layers and their biases (as PyTorch's layers do), normal with deviation 0.02 for embeddings,
/// 1 and 0 for scales and shifts of normalizations, whose statistics begin anew. Gives how many tensors were reset.
int64_t reset_weights(Model& model, uint64_t seed);

}  // namespace mlopt::train
