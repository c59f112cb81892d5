#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/exec/runner.h"
#include "quantize/plan.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {

/// The grids of activations, as data show their ranges.
struct Grids {
  std::map<std::string, Grid> grids;  ///< by the value that owns each
  std::vector<std::string> warnings;  ///< of values that no grid holds as they are
  int64_t samples = 0;                ///< that were seen
};

/// Runs the model over at most so many samples, evenly spaced over the data, and chooses ranges as the spec says.
Grids calibrated_grids(const Model& model, const Plan& plan, const Spec& spec, const Runner& runner,
                       const Dataset& data, int64_t samples,
                       const std::function<void(int64_t done, int64_t total)>& progress = {});

}  // namespace mlopt::quantize
