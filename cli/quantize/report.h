#pragma once
#include "core/report/report.h"
#include "quantize/quantize.h"

namespace mlopt::cli {

/// The layers furthest from the source; all of them as the key `layers`.
void report_layers(const quantize::Quantized& made, Report& report);
/// How weights are stored, and the furthest from what they were; all of them as the key `weights`.
void report_weights(const quantize::Quantized& made, Report& report);

}  // namespace mlopt::cli
