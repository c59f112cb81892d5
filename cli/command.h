#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/options.h"
#include "core/base/console.h"
#include "core/base/error.h"
#include "core/report/report.h"

namespace mlopt::train {
class Communicator;
}

namespace mlopt::cli {

/// One process.
std::shared_ptr<train::Communicator> no_ranks();

/// The options of every command.
struct Common {
  int threads = 0;  ///< after parsing: at least 1
  uint64_t seed = 0;
  std::string device;
  std::string fallback;  ///< of what the device cannot run: "cpu"; empty: none
  bool quiet = false, verbose = false;
  std::string json, markdown, junit;  ///< files to write; "-" is standard output, empty: none
  std::string config;
};

/// One run of one command: what it was given, and what it reports.
struct Session {
  Common common;
  Console console;
  Report report;
  std::optional<Error> failure = {};  ///< ends the command with its status once the report is written
  std::string stdout_owner = {};      ///< the option that writes to standard output in place of the text report
  /// The processes of the run: more than one only for a command that is `parallel`.
  std::shared_ptr<train::Communicator> ranks = no_ranks();

  /// Takes standard output for `option` ("--json -"); throws Error{kUsage} when another option has it.
  void claim_stdout(std::string_view option);
  /// Rank 0 writes and reports for all.
  bool writes() const;
};

/// What a command does once its options are parsed.
using Action = std::function<void(Session&)>;

struct Example {
  std::string_view line;  ///< after "mlopt "
  std::string_view what;
};

/// A verb of the command line. It fills the session's report; the exit status is 1 when one of the report's gates
/// fails.
struct Command {
  std::string_view name;
  std::string_view arguments;  ///< "MODEL -o OUT", for the usage line
  std::string_view summary;    ///< one line, without a full stop
  std::array<Example, 2> examples;
  Action (*setup)(Options& options);  ///< declares the command's own options, which outlive the action
  std::string_view alias = {};
  bool parallel = false;  ///< several processes started by mpirun share its work
};

/// The command's own options, then the common ones.
Action declare_all(const Command& command, Options& options, Common& common);

/// The help text of a command, and of the program.
std::string command_help(const Command& command);
std::string program_help();

}  // namespace mlopt::cli
