#pragma once
#include <string>

#include "core/train/optimizers.h"

namespace mlopt::train {

/// The name of the moving average of a parameter in the state.
std::string average_of(const std::string& parameter);

/// Adds the moving average of the updated parameter to the graph of updates: `decay` of what it was, the rest new
/// (Polyak and Juditsky 1992), at first more, 9 / (10 + updates), so that it forgets where it began. Where the training
/// `removes` weights, what is 0 has been removed, and its average is 0 too.
void add_average(UpdateArgs& args, double decay, bool removes = false);

}  // namespace mlopt::train
