#pragma once
#include "core/calib/observe.h"
#include "core/calib/weights.h"
#include "quantize/coded.h"

namespace mlopt::quantize {

/// The `share` of a weight's numbers (above 0, at most 0.5) that is largest, where what each is multiplied by counts if
/// it was `seen` (else null): these stretch the range of all others, and are few (Kim et al. 2023, "SqueezeLLM": dense
/// and sparse). Of equal ones the first.
Kept largest_numbers(const Weight& weight, double share, const Observed* seen);

/// Sets those of them to 0 that are in these rows of the weight, of which the first is its row `first`.
void take_out(const Kept& kept, int64_t first, Matrix& rows);

}  // namespace mlopt::quantize
