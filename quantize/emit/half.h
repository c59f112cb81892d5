#pragma once
#include "core/ir/model.h"
#include "quantize/emit/emitted.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// Computes in float16 what the standard and runtimes can compute in it: weights and inner values become float16, with
/// Casts around the rest. Inputs and outputs of the model keep their types. Gives what stays float32 and why, by node.
Emitted emit_half(Model& model, const Spec& spec);

}  // namespace mlopt::quantize
