#pragma once
#include <string>
#include <vector>

#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt::train {

/// The nodes of the main graph that seed_random() can give other numbers in each update.
std::vector<Node*> random_nodes(const Model& model);

/// Puts `mlopt.SeededNormal` and `mlopt.SeededUniform` in their place, whose numbers follow from `keys`, as
/// dropout_keys() gives them: those of the first sample, which no other portion of the epoch begins with.
void seed_random(Model& model, const std::vector<Node*>& nodes, Value* keys, TypeRule types);

/// Labels of all that is left to draw by chance, bodies included: the same in each update.
std::vector<std::string> repeating(const Model& model);

}  // namespace mlopt::train
