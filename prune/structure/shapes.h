#pragma once
#include <vector>

#include "prune/structure/rewriting.h"

namespace mlopt::prune {

/// Shape inputs that are constant get the elements that are wanted of them; 0 and -1 stay where they still say it.
void rewrite_constant_shapes(const std::vector<WantedShape>& wanted);

/// The same for shapes that are computed, once types are inferred anew: most follow by themselves; of the others the
/// elements are put in. Gives whether any was.
bool rewrite_computed_shapes(const std::vector<WantedShape>& wanted);

}  // namespace mlopt::prune
