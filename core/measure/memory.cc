#include "core/measure/memory.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>

#include "core/base/text.h"

namespace mlopt {

namespace {

/// The bytes in the line "KEY   123 kB" of a file of /proc; 0 where there is none.
int64_t kilobytes_line(const char* file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!starts_with(line, key)) continue;
    const std::string_view number = trim(std::string_view(line).substr(key.size()));
    return parse_int(number.substr(0, number.find(' '))).value_or(0) * 1024;
  }
  return 0;
}

/// The number that a file consists of; nothing for "max" and where there is no such file.
std::optional<int64_t> number_in(const char* file) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text);
  return parse_int(trim(text));
}

}  // namespace

int64_t peak_memory() { return kilobytes_line("/proc/self/status", "VmHWM:"); }

int64_t available_memory() {
  const int64_t system = kilobytes_line("/proc/meminfo", "MemAvailable:");
  const auto limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  return limit && used ? std::min(system, std::max<int64_t>(0, *limit - *used)) : system;
}

std::optional<int64_t> peak_memory_of(const std::function<void()>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) {
    int64_t peak = -1;
    try {
      work();
      peak = peak_memory();
    } catch (...) {
      // The parent does the same work later, and reports what is wrong with it.
    }
    const ssize_t written = ::write(ends[1], &peak, sizeof peak);
    ::_exit(written == sizeof peak ? 0 : 1);
  }
  ::close(ends[1]);
  int64_t peak = -1;
  ssize_t got = -1;
  if (child > 0) {
    do {
      got = ::read(ends[0], &peak, sizeof peak);
    } while (got < 0 && errno == EINTR);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(ends[0]);
  return got == sizeof peak && peak > 0 ? std::optional(peak) : std::nullopt;
}

}  // namespace mlopt
