#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/gpu/device_memory.h"

namespace mlopt::gpu {

/// How fast a GPU does something at most, and in the middle of all tries.
struct Peak {
  std::string what;             ///< "fp32", "tf32", "fp16", "bf16": products; "copy"
  double best = 0, median = 0;  ///< operations (two for each multiplication) or bytes read and written, each second
  int runs = 0;
  int64_t size = 0;  ///< of the matrices; 0: a copy
};

/// Products of matrices of up to `size` by `size` and copies of `copy_bytes`, each `tries` times, or for a second.
/// Throws as the backend does.
std::vector<Peak> measure_peaks(Device device, int64_t size = 4096, int64_t copy_bytes = int64_t{1} << 30,
                                int tries = 20);

/// The energy in joules that the GPU uses for one `run`, over `seconds` of runs: its counter moves some ten times a
/// second. Nothing where NVML does not count.
std::optional<double> joules_per_run(Device device, const std::function<void()>& run, double seconds = 1);

}  // namespace mlopt::gpu
