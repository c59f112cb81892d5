#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/calib/course.h"
#include "core/calib/shared_sums.h"
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
  std::vector<SharedSums> products;
  /// For each group: products of each column in the original with each in the model; empty without an original.
  std::vector<SharedSums> crossed;
  /// For each group and column: the largest magnitude.
  std::vector<float> peaks = {};
};

/// How much is looked at: `original` is the model before anything was changed, null where that does not matter.
struct Watch {
  bool products = false;
  const Model* original = nullptr;  ///< its values have the names of the model's
};

/// Where runs over the data have come to in a model whose constants are changed from its front to its end, and in the
/// original: what is in front of all changes is not run again.
struct OnTheWay {
  std::vector<std::string> next = {};  ///< constants that will be changed before the next run, and were not before this
  Reached model = {}, original = {};
};

/// What runs the model, and on what.
struct Looking {
  const Runner* runner = nullptr;
  const Dataset* data = nullptr;
  int64_t samples = 128;  ///< at most, evenly spaced over the data
  std::function<void(std::string_view what, int64_t done, int64_t total)> progress = {};
  int64_t part_bytes = int64_t{256} << 20;  ///< of constants that are in memory at once, as far as observe() goes
};

/// Runs the model over the data and observes what the weights are multiplied by, also of models of which only a part is
/// changed yet. With `way` it goes on from there, and leaves there what the values in front of the next changes are,
/// where the model is too large for one part; then nothing but constants in the order of their readers may change
/// between runs, and the layers that read them. Throws Error{kBadInput} where there is no sample, or where numbers are
/// not finite.
std::vector<Observed> observe(const Model& model, std::span<const Weight> weights, const Watch& watch,
                              const Looking& means, OnTheWay* way = nullptr);

/// Adds the rows to what was observed; `original`: those that the original has at the same places.
void see(const Matrix& rows, int64_t group, Observed& observed, const Matrix* original = nullptr);

}  // namespace mlopt
