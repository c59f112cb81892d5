#pragma once
#include <optional>

#include "core/tensor/dim.h"

namespace mlopt {

/// Values that an input may legally take: for floats a half-open interval, for integers both ends are legal.
struct ValueRange {
  double low = 0, high = 1;
  std::optional<Dim> high_dim = std::nullopt;  ///< lengths: the upper end is this dimension instead
};

}  // namespace mlopt
