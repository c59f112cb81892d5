#pragma once
#include "core/ir/view.h"

namespace mlopt {

/// The type that a Cast makes: a number in its attribute, before opset 6 a name as "FLOAT" or "INT64". kUndefined where
/// it is none of ONNX's.
DType cast_target(const NodeView& cast);

}  // namespace mlopt
