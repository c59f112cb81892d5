#pragma once
#include <string>
#include <vector>

namespace mlopt::cli {

/// The whole program but for the process around it: runs the command that `args` (without the program's name) ask for,
/// prints, and returns the exit status. Never throws.
int run_program(const std::vector<std::string>& args);

}  // namespace mlopt::cli
