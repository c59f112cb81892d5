#pragma once
#include "core/ir/model.h"

namespace mlopt::quickstart {

/// A network that is to tell which digit a picture shows: input "image" float32 [N, 1, kSide, kSide], output "scores"
/// float32 [N, 10]. Four layers of convolution, batch normalization, Relu and pooling, and a linear one, with random
/// weights.
Model make_network(uint64_t seed);

}  // namespace mlopt::quickstart
