#pragma once
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ir/model.h"
#include "core/rewrite/pass.h"
#include "quantize/spec.h"

namespace mlopt::quantize {

/// Which nodes of a graph run on integers, and which values become integers for them.
struct Plan {
  std::unordered_set<const Node*> nodes;            ///< run on integers
  std::vector<Value*> values;                       ///< activations that are quantized, in schedule order
  std::unordered_map<const Value*, Value*> shares;  ///< a value that has the grid of another (Reshape, MaxPool, ...)
  std::unordered_map<const Node*, const Node*>
      clamped;                                   ///< Relu or Clip that its producer's range replaces -> producer
  std::unordered_map<const Node*, int> scalars;  ///< node on integers -> its input that is one constant number
  std::unordered_map<const Node*, std::vector<int>>
      constants;                            ///< node on integers -> its inputs that are constant floats
  std::map<std::string, std::string> left;  ///< node left in float -> why

  /// The value whose range gives v its grid.
  Value* owner(Value* v) const;
  void add(Value* v);

 private:
  std::unordered_set<const Value*> grid_owner_;
};

/// The placement that ONNX Runtime runs as integer kernels: convolutions and matrix products with constant weights, and
/// what lies between them as far as it can stay integer; nothing is quantized only to be turned back. For runtimes that
/// find that by themselves, what products read, and what is added to it. With spec.require_integer, every node.
Plan make_plan(const Model& model, const Spec& spec);

/// Do --only and --skip leave the node to be quantized? An unnamed node goes by the name of its first output.
bool chosen(const Node& node, const Spec& spec);

// What an operator is for the plan.
/// Conv, Gemm or MatMul with a constant float32 weight in input 1, large enough to gain, or of any size; a Decline says
/// why not.
Expected<bool> is_product(const NodeView& view, bool any_size = false);
/// Gives its input's codes in another order or place: one grid for input and output (MaxPool, Reshape, Transpose, ...).
bool moves_codes(const NodeView& view);
/// Has an integer kernel with a grid of its own for each operand and the result (Add, Mul, AveragePool, Concat, ...).
bool combines_codes(const NodeView& view);
/// The input of Add or Mul, or the divisor of Div, that is one constant float32 other than zero: a grid holds it
/// exactly.
std::optional<int> scalar_operand(const NodeView& view);
/// An activation that runtimes compute within the node before it.
bool is_activation(const Node& node);
/// Relu, or Clip from 0: what an unsigned grid from 0 does by itself.
bool clamps_at_zero(const NodeView& view);

}  // namespace mlopt::quantize
