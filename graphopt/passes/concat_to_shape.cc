// Concat of all sizes of a value, taken out of its Shape one by one -> its Shape.
#include <algorithm>

#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// The value whose sizes v holds, or is computed from; null where that is something else.
Value* measured(Value* v) {
  constexpr const char* kSteps[] = {"Gather", "Slice", "Squeeze", "Unsqueeze", "Reshape", "Cast", "Identity"};
  for (int depth = 0; depth < 8 && v && v->producer && v->producer->domain.empty(); ++depth) {
    const Node& node = *v->producer;
    if (node.op == "Shape") return node.input(0);
    const bool step = std::any_of(std::begin(kSteps), std::end(kSteps), [&](const char* op) { return node.op == op; });
    if (!step) return nullptr;
    v = node.input(0);
  }
  return nullptr;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Value* sizes = m.root->output(0);
  if (sizes->type.dtype != DType::kI64 || !sizes->symbolic) return Decline{"what it holds is not known"};
  for (Value* input : m.root->inputs()) {
    Value* found = measured(input);
    if (!found || found->graph != &builder.graph || !found->type.dims || *found->type.dims != *sizes->symbolic)
      continue;
    return Replacement{builder.op("Shape", {found}, {}, sizes->type)};
  }
  return Decline{"its parts are not all sizes of one value"};
}

std::vector<Rule> rules() { return {{Pattern::op("Concat", {}).open(), rewrite}}; }

}  // namespace

const Pass concat_to_shape = {"concat_to_shape", "replace the sizes of a value that are joined again by its Shape",
                              rules};

}  // namespace mlopt::graphopt
