#include <fcntl.h>
#include <unistd.h>

#include "cli/program.h"
#include "core/base/file.h"

namespace {

/// A file that is opened later must not take the place of a standard stream that is closed: what is printed would go
/// into it. Such a stream stays one that cannot be written.
void occupy_closed_streams() {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDONLY);
  if (fd >= 0) ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  mlopt::install_signal_cleanup();
  return mlopt::cli::run_program(args);
}
