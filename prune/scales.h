#pragma once
#include <span>
#include <string_view>

#include "core/calib/matrix.h"

namespace mlopt::prune {

/// What the scores of a weight are divided by before they are compared with those of others. One function a scale.
struct Scale {
  std::string_view name, doc;
  void (*apply)(Matrix& scores);
};

/// A row's share of what its output is made of: the squares of a row sum up to 1 then. Normalizations that were folded
/// into the weights, and any other factor of a whole output, leave it as it is.
void scale_channels(Matrix& scores);
/// The same for the whole layer.
void scale_layer(Matrix& scores);
void scale_nothing(Matrix& scores);

std::span<const Scale> scales();

}  // namespace mlopt::prune
