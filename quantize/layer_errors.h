#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "core/data/dataset.h"
#include "core/exec/backend.h"
#include "core/tensor/compare.h"
#include "quantize/emit/emitted.h"

namespace mlopt::quantize {

/// How far the result of a layer is from the float model's on the same data, what came before it included.
struct LayerError {
  std::string layer, op;
  Difference difference;
  std::optional<Coverage> input = {};  ///< of its input, where that is rounded to a grid
  std::optional<double> share = {};    ///< of the outputs' error, that goes when the layer alone stays float
};

/// Runs both models on all of the data, a batch at a time, and compares the layers' results; worst SQNR first. The
/// models take the same inputs. Throws Error{kInternal} for data on which only the source runs.
std::vector<LayerError> layer_errors(Backend& backend, const CompileOptions& options, const Model& source,
                                     const Model& result, const std::vector<LayerValue>& layers, const Dataset& data,
                                     const std::function<void(int64_t done, int64_t total)>& progress);

}  // namespace mlopt::quantize
