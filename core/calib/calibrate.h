#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/calib/histogram.h"
#include "core/data/dataset.h"
#include "core/exec/backend.h"

namespace mlopt {

/// What calibration sees of the data.
struct CalibrationLimits {
  int64_t samples = 256;    ///< at most: the first; see spread() for data sorted by class
  int64_t batch = 8;        ///< run at once where the model's batch is free
  bool in_bins = true;      ///< false: only limits are wanted, see Histogram::see()
  int part = 0, parts = 1;  ///< of what is run at once, each `parts`-th from number `part` on
};

struct Calibration {
  std::map<std::string, Histogram> values;  ///< of each value that was computed at least once
  int64_t samples = 0;
};

/// Runs `model` over the data and observes the named values. Memory does not grow with the samples: each value is seen
/// when it is computed and freed. `progress(done, total)` may be empty. Throws Error{kBadInput} when there is no
/// sample, and naming sample and input when one holds NaN or infinity (they would spread to every value that follows).
Calibration calibrate(Backend& backend, const Model& model, const std::vector<std::string>& values, const Dataset& data,
                      const CalibrationLimits& limits, int threads,
                      const std::function<void(int64_t, int64_t)>& progress = {});

}  // namespace mlopt
