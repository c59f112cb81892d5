#include "cli/busy.h"
#include "cli/program.h"
#include "core/base/file.h"

int main(int argc, char** argv) {
  const bool computes = argc > 1 && argv[1][0] != '-';
  if (computes) mlopt::cli::spin_briefly_when_busy(argv);
  mlopt::install_signal_cleanup();
  return mlopt::cli::run_program({argv + (argc > 0 ? 1 : 0), argv + argc});
}
