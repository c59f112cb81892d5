#include "cli/completion.h"

#include <memory>

#include "cli/commands.h"

namespace mlopt::cli {
namespace {

struct Shell {
  std::string_view name;
  std::string (*script)();
};

constexpr Shell kShells[] = {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};

void run(const std::string& wanted, Session& session) {
  for (const Shell& shell : kShells) {
    if (shell.name == wanted) session.report.line(shell.script());
  }
}

Action setup(Options& options) {
  const auto shell = std::make_shared<std::string>();
  Option& option = options.positional("SHELL", *shell, "bash, zsh or fish");
  for (const Shell& known : kShells) option.choices.emplace_back(known.name);
  return [shell](Session& session) { run(*shell, session); };
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .arguments = "SHELL",
          .summary = "print a script that completes commands and options in a shell",
          .examples = {{{"completion bash > ~/.local/share/bash-completion/completions/mlopt", "for bash"},
                        {"completion fish > ~/.config/fish/completions/mlopt.fish", "for fish"}}},
          .setup = setup};
}

}  // namespace mlopt::cli
