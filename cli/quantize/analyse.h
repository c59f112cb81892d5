#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cli/verb/verb.h"
#include "quantize/quantize.h"

namespace mlopt::cli {

/// Quantizes the model in each format, writes no model, and reports the size, the error on the data, the score where
/// there is a metric, and the speed of each; and which of them no other beats in both size and quality, or in both
/// speed and quality. `spec_of` gives the whole spec of a format; a format that the model or the other options rule out
/// has a row with the reason. Without `formats` it tries the usual ones, those for activations with data only.
void analyse(const VerbOptions& verb, std::vector<std::string> formats, const Model& source,
             const quantize::Means& means, const std::function<quantize::Spec(const std::string&)>& spec_of,
             Session& session);

}  // namespace mlopt::cli
