#include "core/onnx/contained.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>

#include "core/base/error.h"

namespace mlopt {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kGrace = 10;  // seconds in which the parent should have ended it

/// Nobody else ends a child whose parent is gone.
void end_with(pid_t parent, int seconds) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it was gone before
  ::alarm(static_cast<unsigned>(seconds + kGrace));
}

[[noreturn]] void run_in_child(const std::function<std::string()>& work, int out) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGABRT, SIGSEGV, SIGALRM}) ::signal(signal, SIG_DFL);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  int status = 1;
  try {
    const std::string result = work();
    status = 0;
    for (size_t done = 0; done < result.size();) {
      const ssize_t count = ::write(out, result.data() + done, result.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) ::_exit(1);
      done += static_cast<size_t>(count);
    }
  } catch (...) {
  }
  ::_exit(status);  // nothing of the parent's may be flushed or destroyed here
}

/// What comes through the pipe until it is closed; nothing when that takes until `deadline`.
std::optional<std::string> read_until(int in, Clock::time_point deadline) {
  std::string result;
  char buffer[65536];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd waiting{in, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t count = ::read(in, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return result;
    result.append(buffer, static_cast<size_t>(count));
  }
}

}  // namespace

Expected<std::string, Unfinished> run_contained(const std::function<std::string()>& work, int seconds) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) unsupported_error("the system gives no pipe");
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) unsupported_error("the system gives no process");
  if (child == 0) {
    end_with(parent, seconds);
    run_in_child(work, ends[1]);
  }
  ::close(ends[1]);
  std::optional<std::string> result = read_until(ends[0], Clock::now() + std::chrono::seconds(seconds));
  ::close(ends[0]);
  if (!result) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!result) return Unfinished{fmt::format("it took longer than {} s", seconds), true};
  if (WIFSIGNALED(status)) return Unfinished{fmt::format("it crashed (signal {})", WTERMSIG(status))};
  if (WEXITSTATUS(status) != 0) return Unfinished{"it failed"};
  return std::move(*result);
}

}  // namespace mlopt
