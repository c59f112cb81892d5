#pragma once
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt::quantize {

struct RotatedStreams {
  int64_t streams = 0;                ///< whose features were rotated
  std::vector<std::string> problems;  ///< why others were not, a sentence each
};

/// Rotates the features of each residual stream: tables and layers that write to it are multiplied by an orthogonal
/// matrix, and layers that read it by its inverse, the scale of the normalization between within them (Ashkboos et al.
/// 2024, "QuaRot"; there with Hadamard matrices, and normalizations of means turned into others; here the matrix leaves
/// means alone). No node is added, and the model computes what it did; features that were much larger than others are
/// not any more. Types must be known.
RotatedStreams rotate_streams(Model& model);

}  // namespace mlopt::quantize
