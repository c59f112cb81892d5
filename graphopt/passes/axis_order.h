#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::graphopt {

/// Which axes of a source a value has, and in what order, after Transposes, Squeezes and Unsqueezes alone. Unlike
/// AxisMap it needs no sizes. What Unsqueeze puts in is what a Squeeze took away, as all of these are of length 1.
class AxisOrder {
 public:
  static constexpr int64_t kNew = -1;  ///< stands for an axis of length 1 that the source lacks

  /// The source itself.
  explicit AxisOrder(size_t rank);
  /// False where the operator is another, or its axes are not known.
  bool apply(const Node& node, const Builder& builder);
  /// All of a chain, first one first.
  bool apply(const std::vector<const Node*>& chain, const Builder& builder);

  /// The source's axis that each is, or kNew.
  const std::vector<int64_t>& axes() const { return axes_; }
  size_t source_rank() const { return rank_; }
  /// Axes of the source that were taken away, ascending.
  std::vector<int64_t> squeezed() const;
  bool has_new_axes() const { return !new_places().empty(); }
  bool operator==(const AxisOrder&) const = default;

  /// Of the operators that make() writes: 2 for a Transpose, which copies, 1 for each of the others; 0: the source.
  int cost() const;
  static int cost_of(const Node& layout) { return layout.is("Transpose") ? 2 : 1; }
  /// The value as Transpose, Squeeze and Unsqueeze of `source`, each where it does something.
  Value* make(Builder& builder, Value* source, const Type& type) const;

 private:
  void unsqueeze(const std::vector<int64_t>& places);
  std::vector<int64_t> new_places() const;
  std::vector<int64_t> permutation() const;

  size_t rank_;
  std::vector<int64_t> axes_;
};

/// A value by the source that Transposes and Squeezes made it of.
struct Ordered {
  Value* source;
  AxisOrder order;
};
/// What v is of before Transposes, whoever else reads what is between, and which axis of that each of v's is.
struct Unturned {
  Value* source;
  std::vector<int64_t> perm;
};
/// The rank of v is known; so is that of what it is of.
Unturned unturned(Value* v, const Builder& builder);
/// Does one node alone read v, once or more often?
bool one_reader(const Value& v);
/// What a chain of them makes v of, in the builder's graph, by all of the chain first, then by less and less of it.
/// One node alone reads v and each value between.
std::vector<Ordered> orders_of(Value* v, const Builder& builder);

}  // namespace mlopt::graphopt
