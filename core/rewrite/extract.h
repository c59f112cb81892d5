#pragma once
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt {

/// Leaves what leads from these values of the main graph, which become the model's inputs, to those, which become its
/// outputs; an empty list stands for the model's own. Types must have been inferred. Throws Error{kUsage} naming the
/// value where there is none of that name, where its type is not known, where an output needs another input as well,
/// and where none needs an input.
void extract(Model& model, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

}  // namespace mlopt
