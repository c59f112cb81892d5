#pragma once
#include "core/ir/model.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// The opset of ai.onnx that the result has: what the spec asks for, else the model's, raised where the format needs
/// it. Throws Error{kUsage} when the spec asks for one that the format cannot be written in.
int64_t wanted_opset(const Model& model, const Spec& spec);

}  // namespace mlopt::quantize
