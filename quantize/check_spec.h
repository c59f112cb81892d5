#pragma once
#include "quantize/spec.h"

namespace mlopt::quantize {

/// Throws Error{kUsage} for parts that must not be together, naming one of them.
void check_spec(const Spec& spec);

// What a format leaves open.

/// Ranges of activations, from data.
bool chooses_ranges(const Spec& spec);
/// Codes with scales, in one form or another.
bool has_codes(const Spec& spec);
/// Whether codes are around zero.
bool chooses_zero_point(const Spec& spec);

}  // namespace mlopt::quantize
