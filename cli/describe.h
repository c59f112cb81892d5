#pragma once
#include <string>

#include "core/tensor/datum.h"

namespace mlopt::cli {

/// A value in words: its concrete type ("float32[1,3]"), and its extremes and mean, empty where they make no sense.
struct DatumSummary {
  std::string type, smallest, largest, mean;
};
DatumSummary summarize(const Datum& value);

}  // namespace mlopt::cli
