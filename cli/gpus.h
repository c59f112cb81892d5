#pragma once
#include "core/report/report.h"

namespace mlopt::cli {

/// The GPUs that the plugin reaches, in words and under `gpus` in the data; with `measure` their peaks. Says nothing
/// where there are none.
void show_gpus(bool measure, Report& report);

}  // namespace mlopt::cli
