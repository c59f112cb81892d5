#pragma once
#include "quantize/spec.h"

namespace mlopt::quantize {

/// Throws Error{kUsage} for parts that must not be together, naming one of them.
void check_spec(const Spec& spec);

}  // namespace mlopt::quantize
