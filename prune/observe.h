#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "prune/prune.h"
#include "prune/weights.h"

namespace mlopt::prune {

/// What a weight is multiplied by, over data: sums over all places of all samples.
struct Observed {
  int64_t rows = 0;  ///< places that were seen, of one group
  /// For each group and column: the sum of squares.
  std::vector<double> squares;
  /// For each group: products of each column with each, [columns, columns]; empty unless asked for.
  std::vector<std::vector<float>> products;
};

/// Runs the model over the data and observes what the weights are multiplied by, also of models of which only a part is
/// pruned yet. Throws Error{kBadInput} where there is no sample, or where numbers are not finite.
std::vector<Observed> observe(const Model& model, std::span<const Weight> weights, bool products, const Means& means);

/// Adds the rows to what was observed.
void see(const Matrix& rows, int64_t group, Observed& observed);

}  // namespace mlopt::prune
