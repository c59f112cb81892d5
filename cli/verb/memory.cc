#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "cli/verb/verb.h"
#include "core/base/text.h"

extern char** environ;

namespace mlopt::cli {
namespace {

/// A file descriptor of ours.
class Handle {
 public:
  explicit Handle(int fd) : fd_(fd) {}
  ~Handle() { close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

/// What a command of this program prints; nothing when it fails.
std::optional<std::string> output_of(std::vector<std::string> args) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  Handle in(ends[0]), out(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return std::nullopt;
  out.close();
  std::string text;
  char buffer[4096];
  for (ssize_t count = 1; count != 0;) {
    count = ::read(in.get(), buffer, sizeof buffer);
    if (count > 0) text.append(buffer, static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::optional(text) : std::nullopt;
}

/// The peak memory of `bench` on the model in this file.
std::optional<int64_t> peak_of_run(const std::string& path, const VerbOptions& verb, const Common& common) {
  std::vector<std::string> args = {"mlopt",
                                   "bench",
                                   path,
                                   "--runs",
                                   "1",
                                   "--warmup",
                                   "0",
                                   "--json",
                                   "-",
                                   "--threads",
                                   std::to_string(common.threads),
                                   "--seed",
                                   std::to_string(common.seed)};
  const auto add = [&](const char* option, const std::string& value) {
    args.emplace_back(option);
    args.push_back(value);
  };
  if (!common.device.empty()) add("--device", common.device);
  if (!verb.data.spec.empty()) add("--data", verb.data.spec);
  for (const std::string& shape : verb.data.shapes) add("--shape", shape);
  for (const std::string& range : verb.data.ranges) add("--range", range);
  const auto text = output_of(std::move(args));
  if (!text) return std::nullopt;
  const Json report = Json::parse(*text);
  const Json* models = report.find("models");
  const Json* peak = models && !models->items().empty() ? models->items()[0].find("peak_memory_bytes") : nullptr;
  return peak && peak->is_integer() ? std::optional(peak->integer()) : std::nullopt;
}

/// The same for a model that is in no file yet: it goes into one that has no name and needs no removal.
std::optional<int64_t> peak_of_run(const Model& model, const VerbOptions& verb, const Common& common) {
  const Handle file(::memfd_create("mlopt", 0));
  if (file.get() < 0) return std::nullopt;
  bool whole = true;
  write_model_to(model, [&](std::span<const std::byte> piece) {
    while (whole && !piece.empty()) {
      const ssize_t done = ::write(file.get(), piece.data(), piece.size());
      if (done > 0) piece = piece.subspan(static_cast<size_t>(done));
      whole = done > 0 || errno == EINTR;
    }
  });
  if (!whole) return std::nullopt;
  return peak_of_run(fmt::format("/proc/self/fd/{}", file.get()), verb, common);
}

}  // namespace

std::vector<Gate> judge_memory(const VerbOptions& verb, const Model& source, const Model& result,
                               const Session& session) {
  if (!verb.max_memory) return {};
  const std::optional<int64_t> needed = peak_of_run(result, verb, session.common);
  std::optional<int64_t> before;
  if (verb.max_memory->percent) before = peak_of_run(source, verb, session.common);
  if (!needed || (verb.max_memory->percent && !before)) {
    return {{"max-memory", verb.max_memory->value, Json(), false, "the memory of a run could not be measured"}};
  }
  const int64_t limit = verb.max_memory->bytes(before.value_or(0));
  return {{"max-memory", limit, *needed, *needed <= limit,
           fmt::format("a run needs {}, the limit is {}", format_bytes(static_cast<double>(*needed)),
                       format_bytes(static_cast<double>(limit)))}};
}

}  // namespace mlopt::cli
