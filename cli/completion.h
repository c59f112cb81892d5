#pragma once
#include <string>

namespace mlopt::cli {

/// Scripts that teach a shell the commands, their options and the values of these.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

/// As a shell takes it for one word.
std::string shell_quoted(const std::string& text);

}  // namespace mlopt::cli
