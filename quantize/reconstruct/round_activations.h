#pragma once
#include <map>
#include <string>

#include "core/ir/model.h"
#include "quantize/grids.h"
#include "quantize/plan.h"

namespace mlopt::quantize {

/// Puts a FakeQuantize behind each value that the plan, which is of this model, rounds; all others keep their names.
/// Gives the initializers that hold the logarithms of scales, by the value that owns the grid.
std::map<std::string, std::string> round_activations(Model& model, const Plan& plan,
                                                     const std::map<std::string, Grid>& grids);

}  // namespace mlopt::quantize
