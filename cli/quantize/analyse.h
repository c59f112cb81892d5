#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cli/verb/verb.h"
#include "quantize/quantize.h"

namespace mlopt::cli {

/// What --analyse tries, and where its tables go.
struct Sweep {
  std::vector<std::string>
      formats;            ///< as --to takes them; empty: the usual ones, those for activations with data only
  std::string csv, html;  ///< files to write; empty: none
};

/// Quantizes the model in each format, writes no model, and reports the size, the error on the data, the score where
/// there is a metric, and the speed of each; and which of them no other beats in both size and quality, or in both
/// speed and quality. `spec_of` gives the whole spec of a format; a format that the model or the other options rule out
/// has a row with the reason.
void analyse(const VerbOptions& verb, const Sweep& sweep, const Model& source, const quantize::Means& means,
             const std::function<quantize::Spec(const std::string&)>& spec_of, Session& session);

}  // namespace mlopt::cli
