#pragma once
#include "core/report/report.h"
#include "prune/prune.h"

namespace mlopt::cli {

/// "a, b and 2 more".
std::string some_of(const std::vector<std::string>& names);

/// What became of the channels: their number, the multiply-accumulates before and after, how far the result was proven.
/// Gives the key `changes`.
Json report_channels(const prune::Pruned& made, Report& report);

/// A row for each group; with `explain` what every group consists of, why it is coupled, and which layers stay.
void report_groups(const prune::Pruned& made, bool explain, Report& report);

/// The widths that a search tried; nothing where there was none.
void report_tried(const prune::Pruned& made, Report& report);

}  // namespace mlopt::cli
