#pragma once
#include <optional>
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt {

/// Where the elements of a value lie after Reshapes and Transposes: axes that are products of parts of the source's
/// axes.
class AxisMap {
 public:
  /// The source itself; its dimensions must be known.
  explicit AxisMap(SymDims source);

  /// False, and of no more use, where the parts are not known well enough, or the operator is none of these.
  bool apply(const Node& node, const Builder& builder);
  /// All of a chain, first one first.
  bool apply(const std::vector<const Node*>& chain, const Builder& builder);
  bool reshape(const SymDims& to);
  bool transpose(const std::vector<int64_t>& perm);
  /// Takes away an axis that is the outermost part of one of the source's axes, as if the source were one of the equal
  /// pieces along that axis. Gives the source's axis; nothing where the view's axis is something else.
  std::optional<size_t> take_piece(size_t axis);

  SymDims dims() const;  ///< of the view
  /// The lengths of what an axis of the source was parted into, outermost first; none where its length is 1.
  SymDims parts_of(size_t axis) const;
  /// Is the view's last axis the source's, whole?
  bool keeps_last() const { return !axes_.empty() && place_of_last() == axes_.size() - 1; }
  /// The view's axis that is the source's last one, whole, where only axes of length 1 are behind it.
  std::optional<size_t> place_of_last() const;

  /// Do its elements lie in the source's order, so that a Reshape at most makes it?
  bool in_order() const;
  /// How many operators make() writes.
  int64_t cost() const { return static_cast<int64_t>(plan().size()); }
  /// Can the Reshapes' shapes be written as constants?
  bool writable() const { return targets().has_value(); }
  /// The view of `source`: at most Reshape, Transpose, Reshape. Null where it is not writable.
  Value* make(Builder& builder, Value* source, const Type& type) const;

 private:
  struct Step {
    bool is_transpose = false;
    SymDims dims;  ///< of the result
    std::vector<int64_t> perm;
  };
  using Steps = std::vector<Step>;

  Steps plan() const;
  std::optional<std::vector<std::vector<int64_t>>> targets() const;  // shape or permutation of each step
  Steps from_source() const;
  Steps to_view() const;
  Steps by_parts() const;
  bool follows(size_t part) const;
  Dim length(const std::vector<size_t>& parts) const;

  SymDims source_;
  std::vector<Dim> lengths_;               // of the parts, in the source's order
  std::vector<size_t> axis_of_;            // the source's axis that each is of
  std::vector<std::vector<size_t>> axes_;  // of the view: parts, outermost first
};

/// Reshape, Flatten, Squeeze, Unsqueeze or Transpose of one value.
bool is_layout(const Node* node);

/// What v is of with an axis of length 1 put in at this place by Unsqueeze or Reshape; null where it is something else.
Value* before_axis(const Value* v, size_t axis);
/// The shape without its axes of length 1.
SymDims without_ones(SymDims dims);

/// The longest chain of such operators that ends with `last`, first one first; nothing else reads what is between.
std::vector<const Node*> layout_chain(const Node* last);

/// The same for what v ends with; empty where no such operator of the builder's graph gives it.
std::vector<const Node*> layouts_before(const Value* v, const Builder& builder);

/// The same, whatever else reads what is between.
std::vector<const Node*> all_layouts_before(const Value* v, const Builder& builder);
/// How many of a chain would go if nothing of the graph read its result: those behind the last that others read.
int64_t read_once(const std::vector<const Node*>& chain);

/// A value's elements as another value has them.
struct View {
  Value* source = nullptr;
  AxisMap way;
  Value* make(Builder& builder) const;
};
/// v, which the chain ends with, in the shape `wanted`, as a view of what stands before the chain (empty: of v).
/// Nothing where a size is not known or constants cannot say the way.
std::optional<View> viewed(Value* v, const std::vector<const Node*>& chain, const SymDims& wanted,
                           const Builder& builder);

/// The axes of a Transpose, written out where they are the default, which is reversed; empty for axes that are
/// none.
std::vector<int64_t> permutation_of(const NodeView& transpose, size_t rank);
/// Is each of so many axes named once, counted from the front, as a Transpose wants it?
bool is_permutation(const std::vector<int64_t>& axes, size_t rank);
/// Do the axes that are longer than 1, or may be, stay in order? `perm` is one of the axes of `dims`.
bool moves_only_ones(const std::vector<int64_t>& perm, const SymDims& dims);
/// Puts axes, ascending, that a permutation lacks to where they are in the source, if as many are before them: so least
/// moves.
void put_back(std::vector<int64_t>& perm, const std::vector<int64_t>& axes);

/// Is it the last one of so many axes?
bool is_last_axis(int64_t axis, size_t rank);

/// A target for Reshape from shape x to shape y: integers, 0 where y copies x's axis, at most one -1. Nothing when y is
/// not known well enough, or holds a zero. No -1 beside an axis that data may leave empty: it would not follow then.
std::optional<std::vector<int64_t>> reshape_target(const std::optional<SymDims>& x, const std::optional<SymDims>& y);
/// Reshape of x to that target, with its constant shape input (attribute before opset 5).
Value* make_reshape(Builder& builder, Value* x, const std::vector<int64_t>& target, Type type);

}  // namespace mlopt
