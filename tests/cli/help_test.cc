#include <cstdlib>

#include "cli/commands.h"
#include "core/base/file.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"
#include "tests/support/program.h"

using namespace mlopt;

namespace {

/// The text in tests/cli/help/; MLOPT_UPDATE_GOLDEN=1 writes it anew.
void check_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = test::source_dir() / "tests/cli/help" / (name + ".txt");
  if (std::getenv("MLOPT_UPDATE_GOLDEN")) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
  }
  INFO("to accept a change: MLOPT_UPDATE_GOLDEN=1 mlopt_tests --filenames-as-tags '[#help_test]'");
  REQUIRE(std::filesystem::exists(path));
  CHECK(text == read_file(path));
}

}  // namespace

TEST_CASE("help texts are as they were accepted") {
  check_golden("mlopt", cli::program_help());
  for (const cli::Command& command : cli::commands()) {
    check_golden(std::string(command.name), cli::command_help(command));
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
