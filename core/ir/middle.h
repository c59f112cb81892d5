#pragma once
#include "core/tensor/dims.h"

namespace mlopt {

/// A tensor seen around one axis (or several neighbouring ones): [outer, length, inner].
struct Middle {
  int64_t outer = 1, length = 1, inner = 1;
};

/// The axes [axis, end) of a tensor of these dims in the middle.
inline Middle around(const Dims& dims, size_t axis, size_t end) {
  Middle m;
  for (size_t k = 0; k < dims.size(); ++k) (k < axis ? m.outer : k < end ? m.length : m.inner) *= dims[k];
  return m;
}
inline Middle around(const Dims& dims, size_t axis) { return around(dims, axis, axis + 1); }

}  // namespace mlopt
