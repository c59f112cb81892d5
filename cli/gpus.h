#pragma once
#include <functional>
#include <optional>
#include <string>

#include "core/report/report.h"

namespace mlopt::cli {

/// The GPUs that the plugin reaches, in words and under `gpus` in the data; with `measure` their peaks. Says nothing
/// where there are none.
void show_gpus(bool measure, Report& report);

/// The energy in joules of one `run` on a device of this name; nothing where it is no GPU, or does not count.
std::optional<double> joules_per_run(const std::string& device, const std::function<void()>& run);

}  // namespace mlopt::cli
