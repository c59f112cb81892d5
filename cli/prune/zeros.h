#pragma once
#include "core/report/report.h"
#include "prune/prune.h"

namespace mlopt::cli {

/// How many weights are zero. Gives the key `changes`.
Json report_total(const prune::Pruned& made, Report& report);

/// Every layer to programs; to people as many as fit on a screen.
void report_layers(const prune::Pruned& made, Report& report);

}  // namespace mlopt::cli
