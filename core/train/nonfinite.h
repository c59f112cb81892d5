#pragma once
#include <span>
#include <string>

#include "core/exec/backend.h"
#include "core/train/graphs.h"

namespace mlopt::train {

/// Where NaN or infinity first turns up when the graph of gradients runs on these inputs: "the input 'x'", "Div
/// 'norm'"; empty where nowhere. The state stays as it is.
std::string first_nonfinite(const TrainingGraphs& graphs, std::span<const Datum> inputs, Backend& backend,
                            CompileOptions options);

}  // namespace mlopt::train
