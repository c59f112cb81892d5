#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt::prune {

/// A residual block: y = x + f(x). Without it the value in its place is x.
struct Block {
  std::string name;                   ///< as in Spec::shares: its first layer
  const Node* join = nullptr;         ///< the addition
  int branch = 0;                     ///< which of its inputs is f(x); the other is what stays
  std::vector<const Node*> nodes;     ///< that nothing needs without the block, in schedule order
  std::vector<const Node*> layers;    ///< those of them that have weights
  std::vector<const Value*> weights;  ///< theirs: constants of two axes and more
};

struct Blocks {
  std::vector<Block> blocks;                ///< in schedule order; none contains another
  std::map<std::string, std::string> left;  ///< addition that joins no such block -> why
};

/// The blocks of the main graph: additions one side of which comes from the other (or from what that is a sum of), has
/// weights of its own, and can be left out without another shape. Types are known.
Blocks find_blocks(const Model& model);

}  // namespace mlopt::prune
