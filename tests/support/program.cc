#include "tests/support/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <stdexcept>
#include <thread>

#include "core/base/file.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace mlopt::test {
namespace {

void redirect(int stream, const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0 || ::dup2(fd, stream) < 0) _exit(126);
}

std::vector<std::string> with_program(std::vector<std::string> args) {
  args.insert(args.begin(), program().string());
  return args;
}

/// A run of a command in a child process, with its streams in files.
class Run {
 public:
  /// `prepare` is called in the child.
  Run(const std::vector<std::string>& command, const std::string& input, const std::function<void()>& prepare)
      : in_(folder_.write("in", input)) {
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("fork failed");
    if (child_ > 0) return;
    redirect(STDIN_FILENO, in_, O_RDONLY);
    redirect(STDOUT_FILENO, out_, O_WRONLY | O_CREAT);
    redirect(STDERR_FILENO, err_, O_WRONLY | O_CREAT);
    prepare();
    ::execvp(argv[0], argv.data());
    _exit(127);
  }

  void kill(int signal) const { ::kill(child_, signal); }
  int process() const { return child_; }

  /// Whether it ends by itself within so many seconds.
  bool ends_within(double seconds) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    siginfo_t info = {};
    do {
      if (::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0)
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } while (std::chrono::steady_clock::now() < end);
    return false;
  }

  Outcome wait() const {
    int status = 0;
    ::waitpid(child_, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out_), read_file(err_)};
  }

 private:
  TempDir folder_;
  std::string in_, out_ = folder_ / "out", err_ = folder_ / "err";
  pid_t child_ = -1;
};

}  // namespace

Outcome run_mlopt(const std::vector<std::string>& args, const std::string& input) {
  return Run(with_program(args), input, [] {}).wait();
}

Outcome run_mlopt_on_full_disk(const std::vector<std::string>& args, int64_t bytes) {
  const auto limit = [bytes] {
    const rlimit size{static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
    ::setrlimit(RLIMIT_FSIZE, &size);
  };
  return Run(with_program(args), {}, limit).wait();
}

Outcome interrupt_mlopt(const std::vector<std::string>& args, double seconds) {
  const Run run(with_program(args), {}, [] {});
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  run.kill(SIGINT);
  return run.wait();
}

Outcome run_command(const std::vector<std::string>& command, double seconds,
                    const std::function<void(int process)>& started) {
  const Run run(command, {}, [] {});
  if (started) started(run.process());
  constexpr double kGrace = 10;
  if (!run.ends_within(seconds)) run.kill(SIGTERM);
  if (!run.ends_within(kGrace)) run.kill(SIGKILL);
  return run.wait();
}

}  // namespace mlopt::test
