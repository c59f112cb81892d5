#include "core/measure/memory.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace mlopt {

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
