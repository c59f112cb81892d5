#pragma once
#include <string>

#include "core/ir/graph.h"

namespace mlopt {

/// A Cast behind `output` gives what the graph gave before, under its name and with the type `declared`; nodes of the
/// graph read `output` itself as they did.
void cast_output(Graph& graph, Value* output, const Type& declared, const std::string& hint);

}  // namespace mlopt
