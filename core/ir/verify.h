#pragma once
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt {

/// What is wrong with the graph's structure, one sentence each, empty when nothing is: names unique and not empty,
/// every input defined before it is read, uses and producers agree, outputs defined, bodies likewise, domains imported.
std::vector<std::string> verify(const Model& model);
/// Throws Error{kInternal} with the first finding, naming `after` (the pass that broke it).
void require_valid(const Model& model, std::string_view after);

}  // namespace mlopt
