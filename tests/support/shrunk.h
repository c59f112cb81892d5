#pragma once
#include <string>

#include "core/tensor/compare.h"
#include "prune/structure/groups.h"
#include "prune/structure/propagate.h"

namespace mlopt::test {

/// A fixture (see rewrite.h) that lost half of the channels of every group, chosen at random.
struct Shrunk {
  Model model;
  prune::Groups groups;   ///< of the fixture; its nodes and axes are gone
  std::string pinned;     ///< the reasons why channels stay, one a line
  Difference difference;  ///< from the fixture whose channels are masked

  /// "V 8x3x3x3, W ...": the constants of these one-letter names as they are now.
  std::string shapes(const std::string& names) const;
};

/// Fails the test case unless the result is a valid graph that computes what the masked fixture does.
Shrunk shrink(const std::string& graph, int64_t opset = 21, prune::SplitBy split = prune::SplitBy::kInner,
              prune::Statistics statistics = prune::Statistics::kStay);

}  // namespace mlopt::test
