#pragma once
#include <optional>
#include <vector>

#include "core/rewrite/fusion/projection.h"

namespace mlopt::graphopt {

/// A product of rows with a constant matrix, [+ a constant row,] whose columns a Split takes apart.
struct JoinedProduct {
  Node* split = nullptr;
  fusion::Projection product;
  std::vector<int64_t> widths;  ///< columns of each part
  size_t part = 0;              ///< the first or the last
};

/// The product that `part` is a part of; nothing where it is another's middle, or where more than the Split reads it.
std::optional<JoinedProduct> joined_product(const Value& part, const Builder& builder);

/// Multiplies by that part's columns alone, and by the others: nothing that the graph computes changes.
void part_product(const JoinedProduct& joined, Builder& builder);

}  // namespace mlopt::graphopt
