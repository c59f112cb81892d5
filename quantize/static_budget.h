#pragma once
#include <functional>
#include <string>
#include <vector>

#include "quantize/quantize.h"

namespace mlopt::quantize {

/// Which layers of a static format stay float, so that a run takes no longer than the spec's budget of time allows.
struct FloatLayers {
  std::vector<std::string> layers;
  double time = 1;  ///< of a run with these, as a share of the source's
};

/// Measures each layer: what its integers do to the outputs, and what a run takes without them. `finish` makes of a
/// model in codes what the target runs. Throws Error{kUsage} where nothing measures times, and as LatencyPlanner does.
FloatLayers choose_float_layers(const Model& model, const Spec& spec, const Means& means,
                                const std::function<void(Model&, const Spec&)>& finish);

}  // namespace mlopt::quantize
