#pragma once
#include <string>
#include <string_view>

#include "cli/command.h"
#include "core/calib/compare_runs.h"
#include "core/exec/backend.h"

namespace mlopt::cli {

/// --precision, which is "fp32" unless it is given.
void declare_precision(Options& options, std::string& name);
/// What --autotune does.
inline constexpr const char* kAutotuneHelp =
    "on a GPU: try the library's algorithms for each product, and keep the fastest in ~/.cache/mlopt";
/// Of one of the names that --precision takes.
Precision precision_of(std::string_view name);

/// How far the outputs of a run are from those of another, by the names of the outputs.
RunComparison compare_outputs(const std::vector<std::string>& names, const std::vector<Datum>& expected,
                              const std::vector<Datum>& actual);

}  // namespace mlopt::cli
