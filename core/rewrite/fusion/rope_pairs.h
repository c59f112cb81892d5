#pragma once
#include <optional>
#include <string>
#include <utility>

#include "core/rewrite/pass.h"

// Neighbours along the last axis of heads, as exporters take them apart, turn them and put them together.
namespace mlopt::fusion {

/// Is v the elements of x from `from` on, so many, along the last axis, by a Slice or a Split in two?
bool is_part(const Value* v, const Value* x, int64_t from, int64_t length, const Builder& builder);

/// The same rotation of x, with attributes of its own names replaced by these.
Value* rotated_alike(const Node& rope, Value* x, const std::vector<Attr>& attrs, const Type& type, Builder& builder);

/// The even and the odd elements along the last axis of heads.
struct Pairs {
  Value* x = nullptr;  ///< [a, b, c, size], or [a, b, c, size / 2, 2]
  SymDims heads;       ///< [a, b, c, size]
};

/// What `even` and `odd`, both [a, b, c, size / 2], are the elements of.
std::optional<Pairs> pairs_of(const Value* even, const Value* odd, const Builder& builder);

/// a and b of [[a, b], ...], that are put beside each other along a new last axis; nulls for other values.
std::pair<Value*, Value*> stacked(const Value* v, const Builder& builder);

/// The dimensions of a table that multiplies heads, also where its rows are the first of a constant, of which there may
/// be fewer than are asked for; nothing where they are not known.
std::optional<SymDims> table_dims(Value* v, const Builder& builder);

/// One number for each pair of a row.
struct PairTable {
  Value* numbers = nullptr;   ///< row after row, of any shape; null: they are not known to be that
  std::string function = {};  ///< of `numbers`, which is still to be applied; empty: none
  Value* ids = nullptr;       ///< the numbers are the rows of these numbers (null: all, one after the other) of ...
  Value* table = nullptr;     ///< ... this constant, [..., size / 2], or [..., size] where `doubled`
  bool doubled = false;
};

/// The numbers that multiply pairs, or, where `doubled`, that multiply both elements of pairs.
PairTable table_of(Value* v, bool doubled, const Builder& builder);

}  // namespace mlopt::fusion
