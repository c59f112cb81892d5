#pragma once
#include "core/report/report.h"
#include "quantize/quantize.h"

namespace mlopt::cli {

/// The layers furthest from the source; all of them as the key `layers`.
void report_layers(const quantize::Quantized& made, Report& report);
/// How weights are stored, and the furthest from what they were; all of them as the key `weights`.
void report_weights(const quantize::Quantized& made, Report& report);
/// What stays as it was, by reason: how many nodes, and one of them.
void report_left(const quantize::Quantized& made, Report& report);
/// The same as the key `declined`.
Json declined_json(const quantize::Quantized& made);

}  // namespace mlopt::cli
