#pragma once
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::graphopt {

/// Places along one axis of x.
struct Span {
  Dim from = 0, length = 1;
};

/// What ScatterND or ScatterElements fills of its input, of these dims: places along its first axes, which are those of
/// a box where the indices count along axes of their own, in order; all of it along the others.
Expected<std::vector<Span>> scatter_box(const Node& scatter, const SymDims& dims, const Builder& builder);

}  // namespace mlopt::graphopt
