#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ir/model.h"
#include "quantize/emit/emitted.h"
#include "quantize/plan.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {

/// Codes of weights, by the node on integers, where they are not simply the nearest.
using Rounded = std::unordered_map<const Node*, QuantizedWeight>;

/// Writes the plan into the graph as QuantizeLinear and DequantizeLinear around the nodes that run on integers; weights
/// become int8 and biases int32 behind a DequantizeLinear. `grids` by the name of the value that owns the grid. Opset
/// 13 or later. Gives the layers with their values before and after, in schedule order.
Emitted emit_qdq(Model& model, const Plan& plan, const std::map<std::string, Grid>& grids, const Spec& spec,
                 const Rounded& rounded = {});

}  // namespace mlopt::quantize
