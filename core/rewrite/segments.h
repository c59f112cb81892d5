#pragma once
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt {

/// The nodes between two values through which all goes that was computed with weights: residual blocks, a transformer's
/// attention or neurons, layers by themselves.
struct GraphSegment {
  Value* end = nullptr;
  std::string signature;  ///< operators and sizes of weights
  bool has_weights = false;
};

/// Cuts the schedule at every value that alone is read later, of those floats that weights had a part in. Masks,
/// positions and shapes go beside them. Types are inferred.
std::vector<GraphSegment> segments(const Model& model);

/// Type and shape without the first axis, which an exporter may have fixed half-way.
std::string sample_type(const Value& v);

}  // namespace mlopt
