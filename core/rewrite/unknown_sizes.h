#pragma once
#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt {

/// Gives a name to each size of the main graph's values that infer() left unknown before, and infers what follows: a
/// size is the same wherever it goes, whatever it is. Values of bodies stay as they are: they have other sizes in each
/// pass.
void name_unknown_sizes(Model& model, TypeRule standard);
/// Makes the sizes unknown again that were named, and those that were computed from them.
void forget_named_sizes(Model& model);

/// Does the size depend on one that was named so? Often it follows from the data, and may be 0: no boxes are found.
bool is_named_size(const Dim& size);

}  // namespace mlopt
