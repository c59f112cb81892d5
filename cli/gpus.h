#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/backend.h"
#include "core/measure/roofline.h"
#include "core/report/report.h"

namespace mlopt::cli {

/// The GPUs that the plugin reaches, in words and under `gpus` in the data; with `measure` their peaks. Says nothing
/// where there are none.
void show_gpus(bool measure, Report& report);

/// The energy in joules of one `run` on a device of this name; nothing where it is no GPU, or does not count.
std::optional<double> joules_per_run(const std::string& device, const std::function<void()>& run);

/// What the GPU of this name can do at most in that precision ("fp16"), as show_gpus() measures it but shorter; nothing
/// where it is no GPU.
std::optional<Roofline> gpu_roofline(const std::string& device, const std::string& precision);

/// What the copies for one node cost that a GPU has the processor run, in a run.
struct NodeCopies {
  std::string node;
  double ms = 0;
};
/// Those of a profile of so many runs, the most costly first.
std::vector<NodeCopies> fallback_copies(const std::vector<StepProfile>& steps, int64_t runs);
/// As a table, the first few of them or all, and in the data.
void show_copies(const std::vector<NodeCopies>& copies, const std::string& of, bool all, Report& report);
Json to_json(const std::vector<NodeCopies>& copies);

}  // namespace mlopt::cli
