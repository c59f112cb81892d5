#pragma once
#include <span>
#include <string>

#include "core/exec/state.h"
#include "core/ir/model.h"

namespace mlopt::train {

/// The name of what is added to a parameter where layers read it.
std::string correction_of(const std::string& parameter);

/// Whoever reads one of these initializers reads its sum with a correction, which the state keeps and nothing trains:
/// zeros at first. With the correction to rounded numbers the model computes with these, while the gradient goes to the
/// numbers themselves as if they had not been rounded (the straight-through estimator: Bengio, Leonard and Courville
/// 2013). Names that the graph does not have are passed over.
void add_corrections(Graph& graph, std::span<const std::string> parameters, StateStore& state);

}  // namespace mlopt::train
