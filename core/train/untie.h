#pragma once
#include "core/ir/model.h"

namespace mlopt::train {

/// Exporters write weights that happen to be equal once, and give the others as Identity of it; each becomes a weight
/// of its own again, so that training may tell them apart.
void untie_weights(Model& model);

}  // namespace mlopt::train
