#pragma once
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::graphopt {

/// What a Pad adds on the spatial axes: begins, then ends, as in a convolution's `pads`.
struct SpatialPadding {
  std::vector<int64_t> pads;
  double value = 0;
};

/// Declines for computed, negative or non-constant-mode padding, and padding of the batch or channel axis.
Expected<SpatialPadding> spatial_padding(const NodeView& pad);
/// Are a convolution's or pool's pads given, or none, and not found by itself?
bool has_own_pads(const NodeView& window);
/// A copy of a convolution or pool that reads what its Pad read and pads by so much more.
Expected<Replacement> with_pads(Node* window, const SpatialPadding& padding, Builder& builder);

}  // namespace mlopt::graphopt
