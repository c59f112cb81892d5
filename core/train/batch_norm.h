#pragma once
#include <string>
#include <vector>

#include "core/exec/state.h"
#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt::train {

/// Makes every BatchNormalization of the main graph normalize by its batch, and keep its running statistics in `state`,
/// updated by outputs that the graph gains; what it makes keeps its name. Gives the names of the statistics.
std::vector<std::string> train_batch_norm(Model& model, StateStore& state, std::vector<StateUpdate>& updates,
                                          TypeRule types);

/// Makes an initializer an input of the graph whose value `state` keeps; its name stays.
Value* move_to_state(Graph& graph, Value* initializer, StateStore& state);
/// After each run, `value` is that of `name` in the state.
void update_state(Graph& graph, const std::string& name, Value* value, std::vector<StateUpdate>& updates);

}  // namespace mlopt::train
