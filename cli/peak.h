#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cli/data.h"

namespace mlopt::cli {

/// What decides how much memory a run of a model takes.
struct RunSetting {
  std::string model, device;
  DataFlags data;
  int64_t batch = 0;  ///< 0: as the data and the model say
  int threads = 1;
  uint64_t seed = 0;
  std::string precision = {};  ///< as --precision names it; empty: fp32
  bool no_prepare = false;
};

/// The most resident memory, in bytes, of a process of its own that does one `mlopt run` so; nothing when that fails.
std::optional<int64_t> peak_of_run(const RunSetting& setting);

}  // namespace mlopt::cli
