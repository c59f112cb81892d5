#pragma once
#include <map>
#include <string>
#include <utility>

#include "core/ir/graph.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {

/// A tensor of codes with its grid, as initializers.
struct Stored {
  Value *codes, *scale, *zero_point;
};

/// Writes codes into a graph, and what they stand for.
class CodeWriter {
 public:
  explicit CodeWriter(Graph& graph) : graph_(graph) {}

  /// New initializers "BASE_quantized", "BASE_scale" and "BASE_zero_point".
  Stored store(const std::string& base, const Tensor& codes, const Tensor& scale, const Tensor& zero_point);
  /// Layers that share the weight `w` share its codes too, unless one of them needs wider scales.
  Stored store(const Value* w, const QuantizedWeight& q, int axis);
  /// A bias of int32 in the steps of its scale.
  Stored store(const std::string& base, const QuantizedBias& b);

  /// A DequantizeLinear of the codes before `before`; with one scale for each index of `axis`, or one for all (-1).
  Value* dequantized(const Node* before, const Stored& stored, const std::string& base, int axis);
  /// x -> QuantizeLinear -> DequantizeLinear before `before`: the two nodes. They have no readers yet.
  std::pair<Node*, Node*> rounded(Value* x, Value* scale, Value* zero_point, const Node* before);

  /// A Clip before a QuantizeLinear with one constant step: at most so many steps from zero on each side.
  void limit(Node* quantize, int least, int most);

 private:
  Graph& graph_;
  std::map<std::pair<const Value*, int>, Stored> weights_;
};

}  // namespace mlopt::quantize
