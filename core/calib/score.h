#pragma once
#include <functional>
#include <string>

#include "core/data/dataset.h"
#include "core/data/metrics.h"
#include "core/exec/backend.h"

namespace mlopt {

struct ScoreOptions {
  std::string metric;
  std::string output;  ///< which output is scored; "": the first
  int64_t batch = 0;   ///< samples at a time where the data can be stacked; 0: 16
  std::function<void(int64_t done)> progress;
  int part = 0, parts = 1;  ///< the part-th of so many parts of the batches is run here
  /// What all parts have counted, of what this one has; needed for more than one.
  std::function<Tally(const Tally&)> combine = {};
};

/// A metric over a dataset.
struct Score {
  std::string metric;
  double value = 0;
  int64_t samples = 0;
  double seconds = 0;  ///< wall time, decoding included
};

/// Runs the plan over all samples. Throws Error{kUsage} for an unknown metric or output, Error{kBadInput} for data
/// without labels or of the wrong kind, naming the sample.
Score score_model(Executable& plan, const Dataset& data, const ScoreOptions& options);

/// "57.00 % (57 of 100)", "4.903".
std::string in_words(const Score& score);

}  // namespace mlopt
