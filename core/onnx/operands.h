#pragma once
#include <cstddef>
#include <cstdint>

#include "core/ir/model.h"

namespace mlopt {

/// How many operands the nodes of an operator have.
struct OperandCount {
  size_t required = 0;  ///< that no node may omit; they come first
  size_t most = 0;
  bool list = false;  ///< may none of them be omitted?
};

/// Of an operator of the standard's at this opset. Known without ONNX's schemas, the making of which takes 20 ms.
OperandCount operand_count(const Node& node, int64_t opset);

/// Throws Error{kBadInput} naming the node of the standard's domain that lacks an operand which it requires, or has
/// more than there are, and the call that has more than its function: what reads the model later need not ask.
void check_operands(const Model& model);

}  // namespace mlopt
