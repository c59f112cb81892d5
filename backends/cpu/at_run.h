#pragma once
#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// A step for outputs whose shapes only the values of inputs tell. `run` gives false, having done nothing, for inputs
/// that it is not made for: the kernels behind this one run these.
Expected<Step> at_run(const NodeView& view, const CompileContext& context, bool (*run)(Call&));

}  // namespace mlopt::cpu
