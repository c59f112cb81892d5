#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/view.h"

namespace mlopt {

/// The outputs of a new operator of the domain `mlopt` at the end of the graph. Their types, whose shapes are static,
/// do not follow from those of the inputs: attributes of the node keep them.
std::vector<Value*> add_typed_op(Graph& graph, std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs,
                                 const std::vector<Type>& types, const std::string& hint);

/// The types that the node keeps; none for other nodes.
std::vector<Type> kept_types(const Node& node);

}  // namespace mlopt
