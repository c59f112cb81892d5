#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt::distill {

/// A part of a network that stands between two values of one type and could be left out: a transformer's layer, a
/// residual block.
struct Block {
  Value *begin, *end;  ///< what it reads and what it gives, beside masks and the like
  std::string label;   ///< its last node, for messages
};

/// The blocks that are followed by others of the same operators and sizes, in order. Types are inferred.
std::vector<Block> repeated_blocks(const Model& model);

/// Leaves of the repeated blocks only those of these numbers, from 0: what read the others reads what they read. Gives
/// the labels of those that are left out. Throws Error{kUsage} for numbers that are none, naming `option`.
std::vector<std::string> keep_blocks(Model& model, const std::vector<int64_t>& kept, const char* option);

/// The numbers of "layers=0/2/4"; throws Error{kUsage}.
std::vector<int64_t> parse_layers(const std::string& text, const char* option);

}  // namespace mlopt::distill
