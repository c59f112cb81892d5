#pragma once
#include <span>
#include <string>

#include "core/ir/model.h"

namespace mlopt {

/// Makes these values of the main graph, at least one, the model's outputs, and removes what none of them needs. Where
/// there were more outputs than names, the rest repeat the last.
void end_with(Model& model, std::span<const std::string> names);

}  // namespace mlopt
