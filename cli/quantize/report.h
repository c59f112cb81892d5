#pragma once
#include "core/report/report.h"
#include "quantize/quantize.h"

namespace mlopt::cli {

/// What was done, in a few lines.
void report_made(const quantize::Quantized& made, const quantize::Spec& spec, Report& report);
/// The layers furthest from the source; all of them as the key `layers`.
void report_layers(const quantize::Quantized& made, Report& report);
/// How weights are stored, and the furthest from what they were; all of them as the key `weights`.
void report_weights(const quantize::Quantized& made, Report& report);
/// Behind the common ending: what the file would take if its codes were entropy-coded.
void report_entropy(const quantize::Quantized& made, Report& report);

}  // namespace mlopt::cli
