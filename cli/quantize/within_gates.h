#pragma once
#include <string>
#include <vector>

#include "cli/verb/verb.h"
#include "quantize/quantize.h"

namespace mlopt::cli {

/// What `made` takes in its files, with the origin that is written into it later.
int64_t final_size(const VerbOptions& verb, const Model& source, const Model& made, const quantize::Spec& spec);

/// quantize(), where a budget of bytes or bits is narrowed to what --max-size allows, if that is less; `spec` is then
/// the narrower one. A limit that no choice of formats holds leaves the budget as it was.
quantize::Quantized quantize_within(const VerbOptions& verb, const Model& source, const quantize::Means& means,
                                    quantize::Spec& spec);

/// A sentence on each gate that does not hold within the budget; none without one.
std::vector<std::string> gates_beyond(const quantize::Spec& spec, const std::vector<Gate>& gates);

}  // namespace mlopt::cli
