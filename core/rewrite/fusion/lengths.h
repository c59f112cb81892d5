#pragma once
#include <optional>

#include "core/rewrite/pass.h"

namespace mlopt::fusion {

/// The lengths that GroupQueryAttention takes, without padding.
struct Lengths {
  Value* last = nullptr;   ///< [batch], int32: the last position of each sample
  Value* total = nullptr;  ///< a scalar, int32: the number of positions
};

/// The lengths of what is [batch, rows, ...] behind `past` [batch, heads, earlier rows, size] (null: there is none)
/// from the shapes of inputs of the graph that have them as axes, so that all layers read the same; nothing where there
/// is none.
std::optional<Lengths> lengths_of(const Dim& batch, const Dim& rows, const Value* past, Builder& builder);

/// A list of `rank` ones, but for the length at `axis`; null where neither an input of the graph nor `near` (null:
/// none) has it as an axis.
Value* shape_with(const Dim& length, size_t axis, size_t rank, Builder& builder, Value* near = nullptr);
/// The lengths of the value's first axes as a list.
Value* leading_sizes(Value* v, int64_t axes, Builder& builder);
/// [1, 1, rows, 1], to repeat a mask for all queries; null likewise.
Value* row_shape(const Dim& rows, Builder& builder, Value* near = nullptr);

}  // namespace mlopt::fusion
