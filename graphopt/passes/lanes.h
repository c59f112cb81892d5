#pragma once
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/rewrite/pass.h"

// What is computed in the same way of each piece of an axis, piece by piece: a loop over time that was unrolled.
namespace mlopt::graphopt {

/// A part of a value along one axis: x[:, 3], x[:, 12:16].
struct Piece {
  Value* of = nullptr;
  size_t axis = 0;
  int64_t start = 0, length = 1;
  bool stays = false;  ///< the axis; else it is gone, as one of length 1
};

/// What v is a piece of, by Gather, Slice or a Split into equal parts, and what takes the axis away; nothing for other
/// values.
std::optional<Piece> piece_of(const Value* v, const Builder& builder);

/// With one element moved from a place to another.
template <class T>
std::vector<T> with_moved(std::vector<T> all, size_t from, size_t to) {
  const auto at = [&](size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
  if (from < to) std::rotate(at(from), at(from + 1), at(to + 1));
  if (from > to) std::rotate(at(to), at(from), at(from + 1));
  return all;
}

/// x with one of its axes moved.
Value* move_axis(Value* x, size_t from, size_t to, Builder& builder);

/// A lane for each piece of an axis, told by the first one's values. The first axis of all of these is that of the
/// samples, which nothing that is computed mixes.
struct Lanes {
  int64_t count = 0;
  Dim batch = 1;                                   ///< samples of a lane
  std::vector<const Node*> steps;                  ///< as they are computed
  std::unordered_map<const Value*, Piece> pieces;  ///< what is taken of values from outside
};

/// The lanes that end with these values, of one type each, which nothing but `readers` reads. Declines, without a
/// reason where the first one's value comes from no piece.
Expected<Lanes> lanes_of(const std::vector<Value*>& ends, const std::vector<const Node*>& readers,
                         const Builder& builder);

}  // namespace mlopt::graphopt
