#pragma once
#include "core/ir/model.h"
#include "tests/support/op.h"

namespace mlopt::test {

/// The model that run_node() runs: inputs from `fixed_from` on are initializers, the others inputs of the graph.
Model one_node(const std::string& op, const std::vector<Datum>& inputs, const OpOptions& options, size_t fixed_from);

}  // namespace mlopt::test
