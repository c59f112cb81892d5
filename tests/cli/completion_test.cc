#include "cli/completion.h"

#include "cli/commands.h"
#include "tests/support/catch.h"
#include "tests/support/program.h"

using namespace mlopt;

TEST_CASE("every command and option is in every script") {
  const std::string bash = cli::bash_completion(), zsh = cli::zsh_completion(), fish = cli::fish_completion();
  std::vector<std::string> names = {"optimize"};  // as fuse is called too
  for (const cli::Command& command : cli::commands()) names.emplace_back(command.name);
  for (const std::string& name : names) {
    INFO(name);
    CHECK(bash.find(name + ") words=") != std::string::npos);
    CHECK(zsh.find("    " + name + ")\n") != std::string::npos);
    CHECK(fish.find("-a " + name + " ") != std::string::npos);
  }
  CHECK(bash.find("eval:--metric) words='top1 ") != std::string::npos);
  CHECK(fish.find("'__fish_seen_subcommand_from eval' -l metric") != std::string::npos);
}

TEST_CASE("bash completes words") {
  const test::Outcome script = test::run_mlopt({"completion", "bash"});
  REQUIRE(script.status == 0);
  CHECK(script.out == cli::bash_completion() + "\n");
  const test::Outcome unknown = test::run_mlopt({"completion", "bsh"});
  CHECK(unknown.status == 2);
  CHECK(unknown.err.find("did you mean 'bash'?") != std::string::npos);
}
