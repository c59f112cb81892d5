#include "cli/command.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/train/communicator.h"

namespace mlopt::cli {

std::shared_ptr<train::Communicator> no_ranks() { return train::single_communicator(); }

bool Session::writes() const { return ranks->rank() == 0; }

void Session::claim_stdout(std::string_view option) {
  if (!stdout_owner.empty()) {
    usage_error(fmt::format("{} and {} both write to standard output", stdout_owner, option), {},
                "write one of them to a file");
  }
  stdout_owner = option;
}

Action declare_all(const Command& command, Options& options, Common& common) {
  Action action = command.setup(options);
  const size_t own = options.all().size();
  options.add("--json", common.json, "FILE", "write the whole report as JSON; - is standard output").writes = true;
  options.add("--markdown", common.markdown, "FILE", "write the report as Markdown").writes = true;
  options.add("--junit", common.junit, "FILE", "write the gates as a JUnit test suite").writes = true;
  options.add("--device", common.device, "DEVICE",
              "cpu, reference, or gpu[:k] (default: cpu, or reference in a build without it)");
  options.add("--fallback", common.fallback, "DEVICE",
              "cpu: what the GPU cannot run runs on the processor, between copies (default: that is an error)");
  options.add("--threads", common.threads, "N", "threads (default: what the control group and affinity allow)");
  options.add("--seed", common.seed, "N", "of everything random (default: 0)");
  options.add("--config", common.config, "FILE", "take options from a TOML file: name = value; the command line wins");
  options.add("-q,--quiet", common.quiet, "print errors only");
  options.add("-v,--verbose", common.verbose, "say more while working");
  options.mark_common(own);
  return action;
}

}  // namespace mlopt::cli
