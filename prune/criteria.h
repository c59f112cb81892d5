#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "prune/matrix.h"
#include "prune/spec.h"
#include "prune/weights.h"

namespace mlopt::prune {

/// What a criterion sees of a layer.
struct Evidence {
  const Weight* weight = nullptr;
  const Matrix* values = nullptr;
  const Spec* spec = nullptr;
  int64_t index = 0;  ///< of the weight in the model
};

/// Weights that compete with one another where each layer has its own share.
enum class Rivals { kLayer, kRow };

/// How much the model needs each element of a weight. One file a criterion.
struct Criterion {
  std::string_view name, doc;
  /// At least 0, of the matrix's shape.
  Matrix (*score)(const Evidence& evidence);
  Rivals rivals = Rivals::kLayer;
  bool needs_data = false;
};

std::span<const Criterion> criteria();
/// Throws Error{kUsage} naming the nearest that there is.
const Criterion& find_criterion(std::string_view name);

// The criteria, one a file.

/// The absolute value of each weight (Janowsky 1989; Han et al. 2015).
Matrix magnitude(const Evidence& evidence);
/// Uniform numbers that follow from the seed and the place: the baseline that any other must beat.
Matrix random(const Evidence& evidence);

}  // namespace mlopt::prune
