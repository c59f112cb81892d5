#include "cli/targets/families.h"

namespace mlopt::cli {

DType deciding_type(const Node& node) {
  const bool by_output = node.op == "If" || node.op == "Loop" || node.op == "ConstantOfShape" || node.op == "EyeLike";
  const Value* value = by_output || node.inputs().empty() ? node.first_output()
                                                          : node.input(node.op == "Where"    ? 1
                                                                       : node.op == "OneHot" ? 2
                                                                                             : 0);
  return value && value->type.kind == Type::Kind::kTensor ? value->type.dtype : DType::kUndefined;
}

}  // namespace mlopt::cli
