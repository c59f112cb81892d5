#include "tests/support/mpirun.h"

#include <filesystem>

#include "tests/support/paths.h"

namespace mlopt::test {

std::string no_mpirun() {
  if (!std::filesystem::exists(binary_dir() / "libmlopt_mpi.so")) return "this build has no plugin for MPI";
  if (run_command({"mpirun", "--version"}, 30).status != 0) return "mpirun is missing";
  return {};
}

Outcome run_ranks(int count, const std::string& program, const std::vector<std::string>& args,
                  const std::function<void(int process)>& started) {
  constexpr double kSeconds = 300;  // under the sanitizers, beside another test, two minutes are too few
  std::vector<std::string> command = {"env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                      "ASAN_OPTIONS=detect_leaks=0",  // the library leaves some behind
                                      "mpirun"};
  // A container may have fewer processors than ranks, no remote shell, no other network interface than the loop, and
  // forbid processes to look into each other's memory.
  const std::vector<std::string> options = {"--oversubscribe", "--bind-to", "none"};
  const std::vector<std::vector<std::string>> settings = {{"plm", "isolated"},
                                                          {"oob_tcp_if_include", "lo"},
                                                          {"pml", "ob1"},
                                                          {"btl", "self,vader"},
                                                          {"btl_vader_single_copy_mechanism", "none"},
                                                          {"memory", "^patcher"}};
  command.insert(command.end(), options.begin(), options.end());
  for (const auto& setting : settings) {
    command.emplace_back("--mca");
    command.insert(command.end(), setting.begin(), setting.end());
  }
  command.insert(command.end(), {"-n", std::to_string(count), (binary_dir() / program).string()});
  command.insert(command.end(), args.begin(), args.end());
  return run_command(command, kSeconds, started);
}

}  // namespace mlopt::test
