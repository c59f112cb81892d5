#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/ir/infer.h"
#include "core/ir/model.h"
#include "core/ir/view.h"

namespace mlopt::autodiff {

/// A node of the forward pass as its gradient rule sees it: what came in and out, the gradients of its outputs, and how
/// the nodes of the backward pass are made. These go to the end of the schedule. All shapes are static.
class GradArgs {
 public:
  GradArgs(Model& model, const Node& node, std::vector<Value*> grads, std::vector<bool> needed, TypeRule types);

  const NodeView view;

  int inputs() const { return static_cast<int>(view.node().inputs().size()); }
  Value* in(int i) const { return view.node().input(i); }
  Value* out(int i = 0) const { return view.node().output(i); }
  /// The gradient of output i; null where the loss does not depend on it.
  Value* grad(int i = 0) const { return grads_[static_cast<size_t>(i)]; }
  /// Whether anybody wants the gradient of input i.
  bool needs(int i) const { return i < inputs() && needed_[static_cast<size_t>(i)]; }

  /// Sizes of a value; throws Error{kUnsupported} naming the node where they depend on data.
  Dims dims(const Value* value) const;
  /// `axis` of input 0 counted from the front; throws Error{kBadInput}.
  int64_t axis(int64_t axis) const;
  /// As NodeView::ints(), also of what shape arithmetic gives; refuses a list that depends on data.
  std::vector<int64_t> ints(std::string_view attr, int i, std::vector<int64_t> otherwise = {}) const;
  /// Throws Error{kUnsupported}: the node has no gradient because of `reason`.
  [[noreturn]] void refuse(std::string_view reason) const;

  /// Output i, which the node is made to give where it did not: a new node then takes its place.
  Value* also_out(int i);
  /// Nothing reads the node any more.
  bool replaced() const { return replaced_; }

  /// The first output of a new standard operator.
  Value* op(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs = {});
  /// The first output of the node's own operator on other inputs.
  Value* again(std::vector<Value*> inputs);
  /// A new operator of the domain `mlopt` with outputs of these types.
  std::vector<Value*> own(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs,
                          const std::vector<Type>& types);
  Value* own(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs, const Value* like);

  Value* constant(Tensor tensor);
  /// A scalar of the element type of `like`.
  Value* number(double value, const Value* like);
  Value* indices(const std::vector<int64_t>& values);
  Value* zeros(const Value* like);
  Value* converted(Value* x, DType type);  ///< `x` itself where it has the type
  Value* scaled(Value* x, double factor);  ///< `x` itself where the factor is 1
  Value* reshaped(Value* x, const Dims& dims);
  Value* flat(Value* x) { return reshaped(x, {element_count(dims(x))}); }
  Value* transposed(Value* x, const std::vector<int64_t>& permutation);
  Value* expanded(Value* x, const Dims& dims);
  /// Elements begin .. end - 1 along `axis`.
  Value* sliced(Value* x, int64_t axis, int64_t begin, int64_t end);
  /// Zeros around `x`: as many before each axis as `pads` says, then as many behind each.
  Value* padded(Value* x, const std::vector<int64_t>& pads);
  /// Sum over `axes`, which stay with size 1; `x` itself where there are none.
  Value* sum(Value* x, const std::vector<int64_t>& axes);

 private:
  Model& model_;
  std::vector<Value*> grads_;
  std::vector<bool> needed_;
  TypeRule types_;
  bool replaced_ = false;
};

/// The gradients of a node's inputs from those of its outputs: one for each input, null where there is none. A gradient
/// may have the shape of the output where the operator broadcasts: the engine sums it to the input's.
using Backward = std::vector<Value*> (*)(GradArgs&);

struct GradRule {
  std::string_view op;
  Backward backward;
  std::string_view domain = {};  ///< "" for ai.onnx
};

/// The whole table.
std::vector<GradRule> all_rules();
/// Null where the operator has none.
const GradRule* find_rule(const Node& node);

}  // namespace mlopt::autodiff
