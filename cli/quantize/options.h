#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/verb/verb.h"
#include "quantize/spec.h"

namespace mlopt::cli {

struct QuantizeOptions {
  VerbOptions verb;
  std::string to, method, calibration, emit, target, outliers, sparse_outliers, layer_plan, calibration_cache, csv,
      html;
  bool per_tensor = false, per_token = false, symmetric = false, equalize = false, correct_bias = false,
       analyse = false, requantize = false, require_integer = false, rotate = false;
  std::vector<std::string> only, skip;
  int64_t calibration_samples = 256;
  std::optional<int64_t> opset, accuracy_level;
};

void declare_options(Options& options, QuantizeOptions& o);

/// `to` is a format or a whole spec, as --to has it; the other options add to it. Throws Error{kUsage} for what does
/// not fit together.
quantize::Spec spec_of(const QuantizeOptions& o, const std::string& to);
/// Of one of several formats: options that it leaves nothing to choose for are for the others.
quantize::Spec spec_among(const QuantizeOptions& o, const std::string& to);

}  // namespace mlopt::cli
