#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/calib/weights.h"
#include "core/ir/model.h"
#include "quantize/emit/emitted.h"
#include "quantize/quantize.h"

namespace mlopt::quantize {

/// Weights of convolutions, matrix products and recurrent layers, and tables that are looked up, in the codes of
/// Format::kWeights; everything is computed in float. A weight that layers share is stored once. Data are looked at
/// where there are some and the method has a use for them. Throws Error{kUnsupported} for a form that no weight can
/// have.
Emitted store_weights(Model& model, const Spec& spec, const Means& means);

/// The same with a format for each layer, chosen to meet the spec's budget; `source_bytes` are those of the source's
/// file. Throws as MixedPlanner does, and Error{kUsage} where the least that there is exceeds it.
Emitted store_mixed(Model& model, const Spec& spec, const Means& means, int64_t source_bytes);

/// A weight that store_weights() would store, and how; without what data would say.
struct PlannedWeight {
  Weight weight;
  Spec spec;       ///< of this weight alone
  bool rectified;  ///< as Task::rectified
};
std::vector<PlannedWeight> planned_weights(const Model& model, const Spec& spec);

/// The opset of ai.onnx that their forms need.
int64_t opset_of_weights(const Model& model, const Spec& spec);

}  // namespace mlopt::quantize
