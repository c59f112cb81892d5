#pragma once
#include "core/report/report.h"
#include "quantize/quantize.h"

namespace mlopt::cli {

/// Behind the common ending: a line on the layers that make much more of the outputs' error than others, with the
/// option that keeps them more exact and what that costs; as the key `advice`. Nothing where the outputs are near
/// enough, and where a budget has chosen the formats. `planned`: the user gave a plan of formats.
void report_advice(const quantize::Quantized& made, const quantize::Spec& spec, bool planned, Report& report);

}  // namespace mlopt::cli
