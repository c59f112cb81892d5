#pragma once
#include <optional>
#include <vector>

#include "core/ir/graph.h"

namespace mlopt::graphopt {

/// An axis that is taken apart, and its rows, in order.
struct TakenRows {
  size_t axis = 0;
  std::vector<Value*> values;  ///< without that axis, or with it where something else took it away
  int64_t steps = 0;           ///< operators that this takes

  bool has_axis(size_t i, size_t rank) const { return values[i]->type.dims->size() == rank; }
};

/// The place that i counts to in so many elements, from their end where it is negative; nothing beyond them.
std::optional<size_t> place_in(int64_t i, size_t length);

/// The rows of y, whose rank is known, where each is taken once by a Gather of one number, and nothing else reads y.
std::optional<TakenRows> gathered(const Value& y, int64_t opset);

}  // namespace mlopt::graphopt
