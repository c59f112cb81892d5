#pragma once
#include "cli/command.h"
#include "core/exec/runner.h"
#include "core/rewrite/pass.h"

namespace mlopt::cli {

/// Runs models as they stand, with the threads and the seed of the common options.
Runner make_runner(Backend& backend, const Common& common);
/// The same after everything that `fuse` does, as any runtime does it; but the reference backend, which judges, still
/// runs models as they stand.
Runner make_preparing_runner(Backend& backend, const Common& common);

/// What passes are told wherever a command runs them: what is judged by `judge`, and the types of the standard.
PassContext judged_by(Backend& judge);

}  // namespace mlopt::cli
