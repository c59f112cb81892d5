#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/ir/model.h"

namespace mlopt::train {

/// How much of the forward pass is computed again in the backward pass, in place of being kept until then.
struct Recompute {
  bool on = false;
  int64_t bytes = 0;  ///< most that activations and gradients may take at once; 0: as many pieces as their square root
};
/// "sqrt", or megabytes; "" for none. Throws Error{kUsage}.
Recompute parse_recompute(std::string_view text);

/// What a rewrite saved: most bytes of values at once by the order of the nodes, without parameters.
struct Recomputed {
  int64_t nodes = 0, pieces = 1;
  int64_t bytes_before = 0, bytes_after = 0;
};

/// Most bytes of values at once by the order of the nodes, without inputs and constants.
int64_t bytes_at_once(const Graph& graph);

/// Cuts the forward pass, which ends with the value `loss`, into pieces of like size; of each but the last piece only
/// what later pieces read is kept, the rest is computed again before the backward pass needs it (Chen et al. 2016).
/// Gradients stay the same to the bit. Random nodes and those with bodies are kept. Shapes are static. Throws
/// Error{kUnsupported} when no cut fits into the bytes.
Recomputed recompute(Model& model, const std::string& loss, const Recompute& how);

}  // namespace mlopt::train
