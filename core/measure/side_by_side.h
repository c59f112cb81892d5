#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/exec/backend.h"
#include "core/measure/ratio.h"
#include "core/measure/stats.h"

namespace mlopt {

/// The latency of a model before and after a rewrite.
struct SideBySide {
  Latency source, result;
  std::vector<Block> source_blocks, result_blocks;
  Estimate result_p50;   ///< milliseconds, with its 95 % interval over blocks
  Ratio ratio;           ///< of the result, relative to the source
  std::string left_out;  ///< why nothing was measured; empty when it was
};

/// Runs both plans on their inputs in alternating blocks for about `seconds` in all. Nothing is measured, and left_out
/// says why, when that is too short for a few runs of each.
SideBySide measure_side_by_side(Executable& source, std::span<const Datum> source_inputs, Executable& result,
                                std::span<const Datum> result_inputs, double seconds, uint64_t seed);

}  // namespace mlopt
