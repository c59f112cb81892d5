#pragma once
#include "cli/command.h"
#include "core/exec/runner.h"

namespace mlopt::cli {

/// How every command runs models: threads and seed are those of the common options.
Runner make_runner(Backend& backend, const Common& common);

}  // namespace mlopt::cli
