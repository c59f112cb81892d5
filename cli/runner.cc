#include "cli/runner.h"

#include "core/onnx/tools.h"

namespace mlopt::cli {

Runner make_runner(Backend& backend, const Common& common) {
  CompileOptions options;
  options.threads = common.threads;
  options.seed = common.seed;
  return {backend, inline_functions, options};
}

}  // namespace mlopt::cli
