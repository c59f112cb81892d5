#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/calib/weights.h"
#include "core/data/dataset.h"
#include "core/exec/runner.h"

namespace mlopt {

/// What a weight is multiplied by, over data: sums over all places of all samples.
struct Observed {
  int64_t rows = 0;  ///< places that were seen, of one group
  /// For each group and column: the sum of squares.
  std::vector<double> squares;
  /// For each group: products of each column with each, [columns, columns]; empty unless asked for.
  std::vector<std::vector<float>> products;
  /// For each group: products of each column in the original with each in the model; empty without an original.
  std::vector<std::vector<float>> crossed;
  /// For each group and column: the largest magnitude.
  std::vector<float> peaks = {};
};

/// How much is looked at: `original` is the model before anything was changed, null where that does not matter.
struct Watch {
  bool products = false;
  const Model* original = nullptr;  ///< its values have the names of the model's
};

/// What runs the model, and on what.
struct Looking {
  const Runner* runner = nullptr;
  const Dataset* data = nullptr;
  int64_t samples = 128;  ///< at most, evenly spaced over the data
  std::function<void(std::string_view what, int64_t done, int64_t total)> progress = {};
};

/// Runs the model over the data and observes what the weights are multiplied by, also of models of which only a part is
/// changed yet. Throws Error{kBadInput} where there is no sample, or where numbers are not finite.
std::vector<Observed> observe(const Model& model, std::span<const Weight> weights, const Watch& watch,
                              const Looking& means);

/// Adds the rows to what was observed; `original`: those that the original has at the same places.
void see(const Matrix& rows, int64_t group, Observed& observed, const Matrix* original = nullptr);

}  // namespace mlopt
