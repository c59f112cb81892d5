#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/data/random.h"
#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt::graphopt {

/// How large free dimensions of inputs must be, by name, where generated inputs of these options would leave windows
/// without a place, as in models of sound and of pictures of any size; empty where they would not. First axes, those of
/// samples, stay as they are.
std::map<std::string, int64_t> least_sizes(const Model& read, const std::vector<InputSpec>& inputs,
                                           const RandomOptions& options, TypeRule standard);

}  // namespace mlopt::graphopt
