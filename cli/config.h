#pragma once
#include <span>
#include <string>
#include <vector>

#include "cli/options.h"

namespace mlopt::cli {

/// The options in the file that `--config F` among `args` names, as words that may stand before `args` (which win);
/// none without --config. The file is TOML: `name = value` with strings, numbers, booleans and flat arrays, and
/// `[command]` tables, of which only those of the command in `options` count. Throws Error{kUsage} naming the line.
std::vector<std::string> config_words(const Options& options, std::span<const std::string> args);

}  // namespace mlopt::cli
