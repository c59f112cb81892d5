#include "cli/busy.h"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "core/base/cpus.h"

namespace mlopt::cli {
namespace {

/// At each of several looks, so that what ran for a moment, such as who started us, does not count.
bool stays_busy() {
  constexpr int kLooks = 3;
  const auto processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  for (int look = 0; look < kLooks; ++look) {
    if (look) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::string text;
    std::getline(std::ifstream("/proc/loadavg"), text);
    if (!is_busy(text, processors, available_cpus())) return false;
  }
  return true;
}

}  // namespace

bool is_busy(std::string_view loadavg, int processors, int threads) {
  // "0.20 0.18 0.12 1/80 11206": after the averages, the threads that run or want to, of all that there are.
  const size_t slash = loadavg.find('/');
  if (threads < 2 || slash == std::string_view::npos) return false;
  const size_t start = loadavg.rfind(' ', slash) + 1;
  int running = 0;
  const auto [end, error] = std::from_chars(loadavg.data() + start, loadavg.data() + slash, running);
  return error == std::errc() && end == loadavg.data() + slash && running - 1 + threads > processors;
}

void spin_briefly_when_busy(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT") || !stays_busy()) return;
  setenv("GOMP_SPINCOUNT", "1000", 0);
  execv("/proc/self/exe", argv);  // where that fails, the program just goes on
}

}  // namespace mlopt::cli
