#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mlopt::test {

struct Outcome {
  int status = -1;  ///< the exit status; 128 + N when signal N ended it
  std::string out, err;
};

/// Runs the program, `mlopt`, with these arguments and waits for it. `input` is its standard input.
Outcome run_mlopt(const std::vector<std::string>& args, const std::string& input = {});

/// The same where no file may grow beyond `bytes`, as on a disk that is full.
Outcome run_mlopt_on_full_disk(const std::vector<std::string>& args, int64_t bytes);

/// The same, interrupted (as by Ctrl-C) after so many seconds.
Outcome interrupt_mlopt(const std::vector<std::string>& args, double seconds);

/// Runs any command, looked for in PATH; `started` is called with its process. What takes longer than `seconds` is
/// ended (SIGTERM, then SIGKILL).
Outcome run_command(const std::vector<std::string>& command, double seconds,
                    const std::function<void(int process)>& started = {});

}  // namespace mlopt::test
