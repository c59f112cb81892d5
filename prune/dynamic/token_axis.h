#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt::prune {

/// Where tokens lie in a value: an axis of outer * tokens * inner elements, the number of the token in the middle.
struct TokenAxis {
  size_t axis = 0;
  int64_t outer = 1, inner = 1;
  bool alone() const { return outer == 1 && inner == 1; }
  friend bool operator==(const TokenAxis&, const TokenAxis&) = default;
};

/// What is done with tokens behind a value.
struct TokenPaths {
  std::map<std::string, std::vector<TokenAxis>> axes;  ///< of values that have tokens, by their names
  bool reads_first = false;                            ///< the first is read by its place: a class token
  std::string problem;                                 ///< why there cannot be fewer; empty: there can
};

/// Follows tokens from an axis of a value to where they end: in products over all of them (attention), in a mean or
/// an extreme over them, or where only the first is read. Shapes of the model are known and integer. There cannot be
/// fewer where an operator sees them by their places or their number, or an output has them.
TokenPaths follow_tokens(const Model& model, const Value& from, size_t axis);

}  // namespace mlopt::prune
