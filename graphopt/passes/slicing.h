#pragma once
#include <optional>
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::graphopt {

/// A Slice by constants: for each named axis, from 0, its start, end and step.
struct Slicing {
  std::vector<int64_t> axes, starts, ends, steps;

  /// Nothing where something is not constant, an axis is named twice, or the rank is not known.
  static std::optional<Slicing> of(const NodeView& view);
  Value* make(Builder& builder, Value* x, Type type = {}) const;
};

/// The axis that the Slice of such inputs as x turns round, which it takes all of, and nothing else.
std::optional<size_t> reversed_axis(const NodeView& slice);
/// x turned round along an axis; the opset has steps of Slice (10).
Value* reversed(Builder& builder, Value* x, size_t axis);

/// A part of a value along one axis: from a place, from 0, to another that the axis has, or to its end.
struct Cut {
  size_t axis = 0;
  int64_t from = 0;
  std::optional<int64_t> to;

  bool is_whole() const { return from == 0 && !to; }
  /// Of what it leaves of x.
  Type type_of(const Value& x) const;
};

/// A part of a value, or all of it.
struct CutPiece {
  Value* of = nullptr;
  Cut cut;

  Value* make(Builder& builder) const;
};

/// What a part of x is joined from, in order: where x is a Concat, of what that joins, where it is a Slice, of what
/// that cuts; else of x itself. None where the part is empty.
std::vector<CutPiece> cut_pieces(Value* x, const Cut& cut, const Builder& builder);

}  // namespace mlopt::graphopt
