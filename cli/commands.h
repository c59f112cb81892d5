#pragma once
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace mlopt::cli {

/// Each in cli/commands/<name>.cc.
Command info_command();
Command check_command();
Command compare_command();
Command run_command();
Command eval_command();
Command bench_command();
Command fuse_command();
Command quantize_command();
Command prune_command();
Command train_command();
Command distill_command();
Command convert_command();
Command devices_command();
Command completion_command();

/// All of them, in the order in which help shows them.
std::vector<Command> commands();
/// By name or alias; throws Error{kUsage} with a suggestion, or where the name is kept for later.
Command find_command(const std::string& name);

}  // namespace mlopt::cli
