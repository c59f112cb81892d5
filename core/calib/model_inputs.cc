#include "core/calib/model_inputs.h"

#include "core/data/random.h"
#include "core/ir/bind.h"
#include "core/ir/legal_ranges.h"

namespace mlopt {

std::vector<InputSpec> model_inputs(const Model& model) {
  std::vector<InputSpec> specs;
  for (const Value* input : model.graph->inputs()) {
    if (input->is_initializer()) continue;
    InputSpec spec;
    spec.name = input->name;
    spec.dtype = input->type.dtype;
    spec.tensor = input->type.has_dtype() && input->type.dims.has_value();
    if (spec.tensor) spec.dims = *input->type.dims;
    spec.range = legal_range(*input);
    specs.push_back(std::move(spec));
  }
  return specs;
}

Model with_smallest_inputs(const Model& model, TypeRule standard) {
  Model copy = clone(model);
  bind_input_shapes(copy, concrete_shapes(model_inputs(copy), {}), standard);
  return copy;
}

}  // namespace mlopt
