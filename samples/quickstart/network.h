#pragma once
#include "core/exec/backend.h"
#include "core/ir/model.h"
#include "samples/quickstart/pictures.h"

namespace mlopt::quickstart {

/// A network that tells which digit a picture shows: input "image" float32 [N, 1, kSide, kSide], output "scores"
/// float32 [N, 10]. Layer upon layer of convolution, batch normalization, Relu and pooling, each with filters learned
/// from what the layer below gives for some of the pictures; then a least-squares head on all of them. Nothing is
/// trained by descent, so it takes seconds.
Model make_network(Backend& backend, const Pictures& pictures, uint64_t seed);

}  // namespace mlopt::quickstart
