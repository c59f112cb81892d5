#pragma once
#include <vector>

#include "core/ir/model.h"
#include "core/ir/view.h"

namespace mlopt {

/// Types of a node's outputs from those of its inputs; empty types where nothing is known.
using TypeRule = std::vector<Type> (*)(const NodeView&);

/// Whether infer() needs no TypeRule for the node's operator, whatever its opset.
bool has_type_rule(const Node& node);

/// Refreshes types, symbolic shapes and the symbolic values of shape arithmetic over the whole model, in schedule
/// order, bodies included. Existing knowledge is kept where inference knows less; declared inputs and outputs never
/// change, unless `keep_outputs` is false: for work on shapes that are proven, by who restores the declared ones later.
/// `standard` gives the types of standard operators that the table here lacks (see core/onnx/infer.h).
void infer(Model& model, TypeRule standard = nullptr, bool keep_outputs = true);
/// The same for one node, from what is known of its inputs.
void infer(const Model& model, Node& node, TypeRule standard = nullptr, bool keep_outputs = true);

}  // namespace mlopt
