#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/calib/calibrate.h"
#include "core/data/dataset.h"
#include "core/exec/runner.h"
#include "quantize/coverage.h"
#include "quantize/plan.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {

/// The grids of activations, as data show their ranges.
struct Grids {
  std::map<std::string, Grid> grids;         ///< by the value that owns each
  std::map<std::string, Coverage> coverage;  ///< of what was seen, by the same
  std::vector<std::string> warnings;         ///< of values that no grid holds as they are
  int64_t samples = 0;                       ///< that were seen
  bool cached = false;                       ///< by an earlier run
};

/// Who calibrates besides this process, and where what was seen is kept.
struct CalibrationMeans {
  std::string cache = {};   ///< folder of calibrations by what they follow from; empty: none
  int part = 0, parts = 1;  ///< of the samples that this process runs
  /// Gives what all parts have seen; `key` is to be the same for all. Empty where there is one part.
  std::function<Calibration(const Calibration& mine, const std::string& key)> combine = {};
};

/// Runs the model over at most so many samples, evenly spaced over the data, and chooses ranges as the spec says.
Grids calibrated_grids(const Model& model, const Plan& plan, const Spec& spec, const Runner& runner,
                       const Dataset& data, int64_t samples, const CalibrationMeans& means = {},
                       const std::function<void(int64_t done, int64_t total)>& progress = {});

}  // namespace mlopt::quantize
