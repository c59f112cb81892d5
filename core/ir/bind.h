#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt {

/// Gives the graph's inputs that are not initializers these concrete shapes, in order, forgets what was known of the
/// shapes that follow from them, and infers them anew. For estimates, never for a model that is written: the declared
/// symbols are lost.
void bind_input_shapes(Model& model, const std::vector<Dims>& shapes, TypeRule standard = nullptr);

/// Gives free dimensions a size for good, wherever inputs and outputs have them: those of these names, and with `batch`
/// above 0 the first of every input. A size may be another free dimension, which the two then are. Other names stay.
/// Throws Error{kUsage} for a name that no input has, and where no first dimension is free.
void fix_dimensions(Model& model, const std::map<std::string, Dim>& sizes, int64_t batch, TypeRule standard = nullptr);

/// Frees an axis of an input that has a size there, under this name, and infers anew what follows; outputs lose what
/// was declared of their shapes where that is no longer so.
void free_dimension(Model& model, Value& input, size_t axis, const std::string& name, TypeRule standard = nullptr);

}  // namespace mlopt
