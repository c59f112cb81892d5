#pragma once
#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/ir/graph.h"

namespace mlopt::quantize {

/// Is it one of these operators of the standard?
template <size_t N>
bool listed(const std::string_view (&names)[N], const Node& node) {
  return node.domain.empty() && std::find(std::begin(names), std::end(names), node.op) != std::end(names);
}

}  // namespace mlopt::quantize
