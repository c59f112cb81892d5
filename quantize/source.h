#pragma once
#include <cstdint>

#include "core/ir/model.h"

namespace mlopt::quantize {

/// Throws Error{kBadInput} for a model that is quantized already.
void require_float(const Model& model);

/// Has it constants in 16 bits?
bool holds_half(const Model& model);

/// Old exporters list every weight as an input with a default. A caller cannot override what is stored in another
/// format, so these become constants; scalars, which may be settings, stay. Gives how many there were.
int64_t make_defaults_constant(Graph& graph);

}  // namespace mlopt::quantize
