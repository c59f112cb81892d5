#pragma once
#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/train/options.h"
#include "core/ir/model.h"

namespace mlopt::cli {

/// "shrink:width=0.5;round=16": is that what --student says?
bool is_shrunk(std::string_view student);

/// The source with fewer channels, those that are needed least: "width=W" is the share of each width that stays; or
/// parts of a pruning spec (flops=50%, latency=0.6x, round=, allocation=, only=, ...). What was removed is in the
/// report. Throws Error{kUsage} for parts that do not fit together, Error{kBadInput} where no channel can go.
Model shrunk_student(const Model& source, std::string_view student, const TrainOptions& options, Session& session);

}  // namespace mlopt::cli
