#include "cli/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <thread>

#include "cli/backends.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/version.h"
#include "core/base/cpus.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/train/communicator.h"

namespace mlopt::cli {
namespace {

bool asks_for_help(const std::vector<std::string>& args) {
  for (const std::string& word : args) {
    if (word == "--") return false;
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

/// The file of --json as far as a command line tells it that need not parse; none where the line also names it
/// otherwise, as it may be a model.
std::string json_path(const std::vector<std::string>& args) {
  std::string path;
  std::vector<std::string> others;
  bool options = true;
  for (size_t i = 0; i < args.size(); ++i) {
    options = options && args[i] != "--";
    if (options && args[i] == "--json" && i + 1 < args.size())
      path = args[++i];
    else if (options && args[i].starts_with("--json="))
      path = args[i].substr(7);
    else
      others.push_back(args[i].starts_with("--") ? args[i].substr(args[i].find('=') + 1) : args[i]);
  }
  return std::any_of(others.begin(), others.end(), [&](const std::string& word) { return same_file(path, word); })
             ? ""
             : path;
}

constexpr int kMostThreads = 1024;  // more than that is a mistake

void check_common(Common& common, const Options& options, const train::Launch& launch) {
  const bool chosen = !options.find("threads")->given.empty();
  if (chosen && (common.threads < 1 || common.threads > kMostThreads))
    usage_error(fmt::format("the number of threads must be from 1 to {}", kMostThreads), "--threads");
  require_device_names(common.device);
  common.device = device_of_rank(with_fallback(common.device, common.fallback), launch);
  if (!chosen) common.threads = train::threads_of_rank(launch, available_cpus(), launcher_cpus());
  if (common.quiet && common.verbose) usage_error("--quiet and --verbose exclude each other");
}

/// Other ranks are silent: what they say, rank 0 says too.
std::shared_ptr<train::Communicator> open_ranks(const Command& command, const train::Launch& launch) {
  if (launch.size <= 1) return train::single_communicator();
  if (!command.parallel)
    usage_error(
        fmt::format("{} is the work of one process, and {} were started", command.name, launch.size), {},
        "start it without mpirun or srun; train, distill, eval, devices --measure and the calibration of quantize "
        "share theirs");
  std::shared_ptr<train::Communicator> ranks = train::mpi_communicator(launch, build_id());
  train::forget_launch();  // programs that this one starts are no ranks
  return ranks;
}

void claim_stdout(Session& session) {
  if (session.common.json == "-") session.claim_stdout("--json -");
  if (session.common.markdown == "-") session.claim_stdout("--markdown -");
  if (session.common.junit == "-") session.claim_stdout("--junit -");
}

/// Puts into `json` where errors are reported too, once the options are known.
int run_command(const Command& command, const std::vector<std::string>& args, const train::Launch& launch,
                std::string& json) {
  if (asks_for_help(args)) {
    print(command_help(command));
    return 0;
  }
  Options options(command.name);
  Common common;
  const Action action = declare_all(command, options, common);
  parse(options, args);
  check_written_files(options);
  json = common.json;
  check_common(common, options, launch);
  keep_to_cores(common.threads);

  const std::shared_ptr<train::Communicator> ranks = open_ranks(command, launch);
  const bool silent = ranks->rank() > 0;
  if (silent) common.json = common.markdown = common.junit = json = {};
  if (!silent) require_writable_files(options);
  Session session{common, Console(common.quiet || silent, common.verbose && !silent), {}};
  session.ranks = ranks;
  claim_stdout(session);
  session.report.title = fmt::format("mlopt {} {}", command.name, join(args, " "));
  session.report.data["command"] = command.name;
  const auto start = std::chrono::steady_clock::now();
  with_threads(common.threads, [&] { action(session); });
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  ranks->close();
  if (silent) return static_cast<int>(session.failure ? session.failure->code : Code::kOk);
  if (!session.report.data.find("seconds")) session.report.data["seconds"] = elapsed.count();
  if (session.failure) {
    session.report.data["error"] = to_json(*session.failure);
    session.report.failure = session.failure->message;
  }
  write_reports(session);
  if (session.failure) write_stderr(fmt::format("{}\n", session.failure->what()));
  if (session.failure) return static_cast<int>(session.failure->code);
  return static_cast<int>(session.report.holds() ? Code::kOk : Code::kGate);
}

int dispatch(const std::vector<std::string>& args, const train::Launch& launch, std::string& json) {
  if (args.empty()) usage_error("no command was given", {}, "mlopt --help lists them");
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    print(args.size() > 1 ? command_help(find_command(args[1])) : program_help());
    return 0;
  }
  if (args[0] == "--version" || args[0] == "-V") {
    print(fmt::format("mlopt {}\n", version()));
    return 0;
  }
  return run_command(find_command(args[0]), {args.begin() + 1, args.end()}, launch, json);
}

/// What to do about an error that does not say it.
std::string general_fix(Code code, const std::vector<std::string>& args) {
  if (code == Code::kUnsupported) return "mlopt devices lists what this machine can run";
  if (code == Code::kUsage) return fmt::format("see mlopt {} --help", args.empty() ? "" : args[0]);
  return "mlopt check tells what is wrong with a model, mlopt info which inputs it takes";
}

/// Where ranks fail alike, rank 0 says it, whose end also ends the others; a rank that fails alone is named.
int fail(const Error& error, const std::vector<std::string>& args, const train::Launch& launch,
         const std::string& json) {
  std::string where = error.where;
  if (launch.size > 1 && launch.rank > 0) {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    where += fmt::format("{}rank {}", where.empty() ? "" : ", ", launch.rank);
  }
  const std::string fix = error.fix.empty() ? general_fix(error.code, args) : error.fix;
  report_error({error.code, error.message, where, fix}, launch.rank == 0 ? json : "");
  return static_cast<int>(error.code);
}

}  // namespace

int run_program(const std::vector<std::string>& args) {
  std::string json = json_path(args);
  const train::Launch launch = train::read_launch();
  try {
    return dispatch(args, launch, json);
  } catch (const Error& e) {
    return fail(e, args, launch, json);
  } catch (const std::bad_alloc&) {
    return fail(
        {Code::kUnsupported, "not enough memory", {}, "use a machine with more memory, or a smaller model or batch"},
        args, launch, json);
  } catch (const std::exception& e) {
    return fail({Code::kInternal, e.what(), {}, "this is a bug in mlopt: please report it with the command line"}, args,
                launch, json);
  }
}

}  // namespace mlopt::cli
