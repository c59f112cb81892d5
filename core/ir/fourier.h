#pragma once
#include <cstdint>

#include "core/base/expected.h"
#include "core/ir/view.h"
#include "core/tensor/tensor.h"

namespace mlopt {

/// What DFT makes of one axis of x [..., axis, ..., 1 or 2 parts of a number].
struct Fourier {
  size_t axis = 0;
  int64_t length = 0;     ///< of the transform
  bool inverse = false;   ///< its sums are divided by the length
  bool mirrored = false;  ///< one half of a spectrum is given, and the result is real
  int64_t in_count = 0, out_count = 0;
  int64_t in_parts = 2, out_parts = 2;
};

/// Declines an axis or a length that is not constant, and what the standard has no meaning for.
Expected<Fourier> fourier_of(const NodeView& dft, const Dims& x);

}  // namespace mlopt
