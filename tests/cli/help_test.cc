#include <fmt/core.h>

#include "cli/commands.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/program.h"

using namespace mlopt;

TEST_CASE("help texts are as they were accepted") {
  test::check_golden("cli/help/mlopt.txt", cli::program_help());
  for (const cli::Command& command : cli::commands()) {
    test::check_golden(fmt::format("cli/help/{}.txt", command.name), cli::command_help(command));
  }
}

TEST_CASE("every command and option is described, and every command has two examples") {
  for (const cli::Command& command : cli::commands()) {
    INFO(command.name);
    CHECK_FALSE(command.summary.empty());
    for (const cli::Example& example : command.examples) {
      CHECK(example.line.substr(0, command.name.size()) == command.name);
      CHECK_FALSE(example.what.empty());
    }
    cli::Options options(command.name);
    cli::Common common;
    const cli::Action action = declare_all(command, options, common);
    for (const cli::Option& option : options.all()) {
      INFO(option.name);
      CHECK(option.help.size() > 5);
      CHECK(option.help.back() != '.');
    }
  }
}

TEST_CASE("help is printed wherever it is asked for") {
  const std::string help = test::run_mlopt({"--help"}).out;
  CHECK(help.find("Commands:") != std::string::npos);
  CHECK(test::run_mlopt({"help"}).out == help);
  const test::Outcome run = test::run_mlopt({"run", "--no-such-option", "--help"});
  CHECK(run.status == 0);
  CHECK(run.out == test::run_mlopt({"help", "run"}).out);
  CHECK(run.err.empty());
}
