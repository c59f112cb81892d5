#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/ir/graph.h"
#include "quantize/coverage.h"

namespace mlopt::quantize {

/// Where the result of a layer is found in the float and in the quantized graph.
struct LayerValue {
  std::string layer;  ///< the node; by its first output where it has no name
  std::string op;
  std::string source, result;
  std::string input = {};  ///< the value whose grid its input has, where that is rounded; of static formats
};

/// A weight that is stored in codes.
struct StoredWeight {
  std::string layer, weight;  ///< the first that reads it; the name of its tensor
  std::string format, form;   ///< as --to and --emit name them
  int64_t elements = 0, bytes = 0;
  double sqnr_db = 0;  ///< of what the codes stand for
  Coverage coverage = {};
  int64_t entropy_coded_bytes = 0;  ///< of the codes by how often each occurs, and of what they stand for; 0: unknown
  int64_t rows = 0;                 ///< outputs, each with a scale where they are channels
};

/// Layer whose weight the method did not round -> how it was rounded, and why.
using Fallbacks = std::map<std::string, std::string>;

/// What an emitter did.
struct Emitted {
  std::vector<LayerValue> layers;           ///< those whose weights are in the format now, in schedule order
  std::map<std::string, std::string> left;  ///< node that stays as it was -> why
  std::vector<StoredWeight> weights;        ///< those in codes, each tensor once
  Fallbacks fell_back;
  std::map<std::string, Tensor> floats;  ///< initializer of codes -> the numbers that they stand for
};

/// The layer of a node that is still in float; its `result` is to be found.
inline LayerValue layer_of(const Node& node) {
  const std::string output = node.first_output() ? node.first_output()->name : "";
  return {node.called(), node.op, output, output};
}

}  // namespace mlopt::quantize
