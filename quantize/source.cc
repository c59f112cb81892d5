#include "quantize/source.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "quantize/restore/restore.h"

namespace mlopt::quantize {

void require_float(const Model& model) {
  if (const Node* node = first_quantized(model))
    input_error(fmt::format("the model is quantized already: see {}", node->label()), model.path,
                "quantize the float model that it was made from, or give --requantize");
}

bool holds_half(const Model& model) {
  const std::vector<Value*> constants = model.graph->initializers();
  return std::any_of(constants.begin(), constants.end(), [](const Value* v) {
    return v->constant->dtype() == DType::kF16 || v->constant->dtype() == DType::kBF16;
  });
}

int64_t make_defaults_constant(Graph& graph) {
  int64_t made = 0;
  for (int i = static_cast<int>(graph.inputs().size()) - 1; i >= 0; --i) {
    const Value* v = graph.inputs()[static_cast<size_t>(i)];
    if (!v->is_initializer() || v->constant->dtype() != DType::kF32 || v->constant->rank() == 0) continue;
    graph.remove_input(i);
    ++made;
  }
  return made;
}

}  // namespace mlopt::quantize
