#pragma once
#include "cli/command.h"
#include "core/exec/runner.h"

namespace mlopt::cli {

/// Runs models as they stand, with the threads and the seed of the common options.
Runner make_runner(Backend& backend, const Common& common);
/// The same after everything that `fuse` does, as any runtime does it; but the reference backend, which judges, still
/// runs models as they stand.
Runner make_preparing_runner(Backend& backend, const Common& common);

}  // namespace mlopt::cli
