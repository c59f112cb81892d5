#pragma once
#include "core/ir/model.h"
#include "quantize/emit/emitted.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// Float32 weights stored as bfloat16 behind a Cast; everything is computed in float32. Opset 13 or later.
Emitted emit_bf16_storage(Model& model, const Spec& spec);

}  // namespace mlopt::quantize
