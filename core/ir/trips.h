#pragma once
#include <optional>

#include "core/ir/view.h"

namespace mlopt {

/// Is the condition of the Loop true at first, and in its body true or the one that it is given? Then nothing but its
/// trip count ends it.
bool only_count_ends(const Node& loop, const Graph& body);

/// How often the body of a Loop or Scan runs, and 1 for other bodies; nothing where that is known at run time only.
std::optional<int64_t> trips(const NodeView& view, const Graph& body);

}  // namespace mlopt
