#pragma once
#include <cstddef>
#include <cstdint>

#include "core/ir/model.h"

namespace mlopt {

/// How many operands at the start no node of this operator of the standard's may omit, at this opset. Known without
/// ONNX's schemas, the making of which takes 20 ms.
size_t required_operands(const Node& node, int64_t opset);

/// Throws Error{kBadInput} naming the node of the standard's domain that lacks an operand it requires: what reads the
/// model later need not ask.
void check_operands(const Model& model);

}  // namespace mlopt
