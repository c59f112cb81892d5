#pragma once
#include <string>

#include "cli/command.h"
#include "cli/train/options.h"
#include "core/exec/backend.h"
#include "core/report/report.h"
#include "core/train/graphs.h"
#include "core/train/offload.h"

namespace mlopt::cli {

/// Throws Error{kUsage} where --offload is given and the device has no memory of its own.
void check_offload(const TrainOptions& options, const std::string& device);

/// Rewrites the graph of gradients where --offload asks for it, and says what that moves.
train::Offloaded begin_offload(const TrainOptions& options, train::TrainingGraphs& graphs, Report& report);

/// What the copies cost, beside a portion of an update that takes `seconds`.
void report_offload(const train::Offloaded& offloaded, const HostTraffic& traffic, double seconds, Report& report);

}  // namespace mlopt::cli
