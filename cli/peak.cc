#include "cli/peak.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/report/json.h"

extern char** environ;

namespace mlopt::cli {
namespace {

std::string read_to_end(int file) {
  std::string text;
  char buffer[4096];
  for (ssize_t count = 1; count > 0 || (count < 0 && errno == EINTR);) {
    count = ::read(file, buffer, sizeof buffer);
    if (count > 0) text.append(buffer, static_cast<size_t>(count));
  }
  return text;
}

/// What this program prints when it is started with these arguments; nothing when it fails.
std::optional<std::string> output_of(std::vector<std::string> args) {
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const bool started = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ) == 0;
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  const std::string text = read_to_end(ends[0]);
  ::close(ends[0]);
  int status = -1;
  while (started && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return started && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::optional(text) : std::nullopt;
}

std::vector<std::string> arguments(const RunSetting& setting) {
  std::vector<std::string> args = {"mlopt", "run", "--no-check"};
  const auto add = [&](const char* option, const std::string& value) { args.insert(args.end(), {option, value}); };
  add("--json", "-");
  add("--threads", std::to_string(setting.threads));
  add("--seed", std::to_string(setting.seed));
  if (!setting.device.empty()) add("--device", setting.device);
  if (!setting.data.spec.empty()) add("--data", setting.data.spec);
  for (const std::string& shape : setting.data.shapes) add("--shape", shape);
  for (const std::string& range : setting.data.ranges) add("--range", range);
  if (setting.batch > 0) add("--batch", std::to_string(setting.batch));
  if (!setting.precision.empty()) add("--precision", setting.precision);
  if (setting.no_prepare) args.emplace_back("--no-prepare");
  args.insert(args.end(), {"--", setting.model});
  return args;
}

}  // namespace

std::optional<int64_t> peak_of_run(const RunSetting& setting) {
  const auto text = output_of(arguments(setting));
  if (!text) return std::nullopt;
  const Json report = Json::parse(*text);
  const Json* peak = report.find("peak_memory_bytes");
  return peak && peak->is_integer() && peak->integer() > 0 ? std::optional(peak->integer()) : std::nullopt;
}

}  // namespace mlopt::cli
