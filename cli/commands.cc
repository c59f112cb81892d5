#include "cli/commands.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::cli {

std::vector<Command> commands() {
  // clang-format off
  return {
      info_command(),
      check_command(),
      run_command(),
      eval_command(),
      compare_command(),
      bench_command(),
      fuse_command(),
      quantize_command(),
      prune_command(),
      train_command(),
      distill_command(),
      convert_command(),
      devices_command(),
      completion_command(),
  };
  // clang-format on
}

Command find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == name || (!command.alias.empty() && command.alias == name)) return command;
    names.emplace_back(command.name);
    if (!command.alias.empty()) names.emplace_back(command.alias);
  }
  for (const char* reserved : {"shrink", "tune", "advise", "report"})
    if (name == reserved)
      usage_error(fmt::format("the command '{}' is kept for a later version", name), {}, "mlopt --help lists them");
  usage_error(fmt::format("unknown command '{}'", name), {}, suggestion(name, names));
}

}  // namespace mlopt::cli
