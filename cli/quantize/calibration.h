#pragma once
#include <string>

#include "cli/command.h"
#include "quantize/quantize.h"

namespace mlopt::cli {

/// Ends the work of all ranks but the first.
struct LeftToRank0 {};

/// --calibration-cache, and the ranks of a parallel run: they share the samples that calibrate, then all but rank 0
/// throw LeftToRank0. Throws Error{kUsage} for a format that calibrates nothing.
quantize::CalibrationMeans calibration_means(const std::string& cache, const quantize::Spec& spec, Session& session);

}  // namespace mlopt::cli
