#pragma once
#include <string>
#include <vector>

#include "quantize/quantize.h"

namespace mlopt::quantize {

/// Why a layer stays in float whose weight or bias is not finite: codes would hide it.
inline constexpr const char* kNotFinite = "its weight or bias holds infinities or NaN";

/// What the user should hear of what was written: layers in bodies that stay as they are, layers whose weights are not
/// finite, and names of the plan that are nobody's.
std::vector<std::string> warnings_of(const Quantized& made, const Spec& spec);

}  // namespace mlopt::quantize
