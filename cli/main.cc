#include "cli/program.h"
#include "core/base/file.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  mlopt::install_signal_cleanup();
  return mlopt::cli::run_program(args);
}
