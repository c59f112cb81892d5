#pragma once
#include <map>
#include <string>

#include "quantize/quantize.h"

namespace mlopt::cli {

/// Formats by layer from a JSON file, or from the JSON itself (which begins with a brace): an object of layer ->
/// format, or a report of `quantize` whose "weights" say them. Throws Error{kBadInput} for another file, and
/// Error{kUsage} for a format that there is not.
std::map<std::string, quantize::WeightFormat> read_layer_plan(const std::string& path);
/// For layers of a model in `spec`; throws Error{kUsage} where that has no formats of weights alone.
std::map<std::string, quantize::WeightFormat> read_layer_plan(const std::string& path, const quantize::Spec& spec);
/// Sees that layers of the plan are there: in the source, or in what was made of it. Throws Error{kUsage} with the
/// nearest name.
void check_layer_plan(const std::map<std::string, quantize::WeightFormat>& plan, const Model& source,
                      const quantize::Quantized& made);

}  // namespace mlopt::cli
