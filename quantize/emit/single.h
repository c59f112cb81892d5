#pragma once
#include <cstdint>

#include "core/ir/model.h"

namespace mlopt::quantize {

/// Everything that the model computes and stores in float16 or bfloat16 becomes float32. Inputs and outputs of the
/// model keep their types, behind Casts. Local functions must have been inlined. Throws Error{kUnsupported} for inputs
/// and outputs that are sequences or optionals of them. Gives the number of values that changed.
int64_t emit_single(Model& model);

}  // namespace mlopt::quantize
