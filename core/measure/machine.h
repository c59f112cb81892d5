#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mlopt {

/// What a measurement depends on and a report must therefore say.
struct Machine {
  std::string cpu;                    ///< model name
  std::vector<std::string> features;  ///< instruction sets that matter here, as the kernel names them
  int logical_cpus = 0;               ///< of the whole machine
  int usable_cpus = 0;                ///< by this process
  std::string governor;               ///< "performance", ..., "unknown" where the system does not tell
  std::string turbo;                  ///< "on", "off", "unknown"
  bool virtual_machine = false;
  int64_t memory_bytes = 0;
  std::string kernel;  ///< "Linux 6.1.0 x86_64"
};
Machine describe_machine();

/// How much the time of the same short loop varies now: (p90 - p50) / p50. Takes about 50 ms; above 0.1 other work
/// disturbs.
double measure_noise();

}  // namespace mlopt
