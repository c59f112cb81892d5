#pragma once
#include "core/ir/model.h"

namespace mlopt::quantize {

/// ONNX Runtime (1.31 at least) has no operators on activations of 4 bits, and fails to load many models in which it
/// comes to make such: a QLinearConv between them, a MaxPool over which it moved them, a Clip before them. So they are
/// held in bytes: cut off where 4 bits end, and rounded with the same steps; each value stays what it was. Weights,
/// which take the room, stay as narrow as they are.
void keep_bytes(Model& model);

}  // namespace mlopt::quantize
