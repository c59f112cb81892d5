#pragma once
#include <string>
#include <vector>

namespace mlopt::cli {

/// Is this the command line (without the program's name) of a command that may run a model?
bool runs_models(const std::vector<std::string>& args);

/// The whole program but for the process around it: runs the command that `args` (without the program's name) ask for,
/// prints, and returns the exit status. Never throws.
int run_program(const std::vector<std::string>& args);

}  // namespace mlopt::cli
