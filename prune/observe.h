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
  /// For each group: products of each column in the original with each in the model; empty without an original.
  std::vector<std::vector<float>> crossed;
};

/// How much is looked at: `original` is the model before anything was pruned, null where that does not matter.
struct Watch {
  bool products = false;
  const Model* original = nullptr;  ///< its values have the names of the model's
};

/// Runs the model over the data and observes what the weights are multiplied by, also of models of which only a part is
/// pruned yet. Throws Error{kBadInput} where there is no sample, or where numbers are not finite.
std::vector<Observed> observe(const Model& model, std::span<const Weight> weights, const Watch& watch,
                              const Means& means);

/// Adds the rows to what was observed; `original`: those that the original has at the same places.
void see(const Matrix& rows, int64_t group, Observed& observed, const Matrix* original = nullptr);

}  // namespace mlopt::prune
