#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/ir/graph.h"

namespace mlopt::quantize {

/// Where the result of a layer is found in the float and in the quantized graph.
struct LayerValue {
  std::string layer;  ///< the node; by its first output where it has no name
  std::string op;
  std::string source, result;
};

/// What an emitter did.
struct Emitted {
  std::vector<LayerValue> layers;           ///< those whose weights are in the format now, in schedule order
  std::map<std::string, std::string> left;  ///< node that stays as it was -> why
};

/// The first output that is not omitted (an LSTM may give its last state only); null when all are.
inline const Value* first_output(const Node& node) {
  const auto& outputs = node.outputs();
  const auto it = std::find_if(outputs.begin(), outputs.end(), [](const Value* v) { return v != nullptr; });
  return it == outputs.end() ? nullptr : *it;
}

/// The layer of a node that is still in float; its `result` is to be found.
inline LayerValue layer_of(const Node& node) {
  const std::string output = first_output(node) ? first_output(node)->name : "";
  return {node.name.empty() ? output : node.name, node.op, output, output};
}

}  // namespace mlopt::quantize
