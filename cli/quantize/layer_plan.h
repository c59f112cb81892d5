#pragma once
#include <map>
#include <string>

#include "quantize/weight_format.h"

namespace mlopt::cli {

/// Formats by layer from a JSON file, or from the JSON itself (which begins with a brace): an object of layer ->
/// format, or a report of `quantize` whose "weights" say them. Throws Error{kBadInput} for another file, and
/// Error{kUsage} for a format that there is not.
std::map<std::string, quantize::WeightFormat> read_layer_plan(const std::string& path);

}  // namespace mlopt::cli
