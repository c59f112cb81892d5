#include "cli/runner.h"

#include "backends/reference/backend.h"
#include "core/onnx/infer.h"
#include "core/onnx/tools.h"
#include "graphopt/pipelines.h"

namespace mlopt::cli {

Runner make_runner(Backend& backend, const Common& common) {
  CompileOptions options;
  options.threads = common.threads;
  options.seed = common.seed;
  return {backend, inline_functions, options};
}

Runner make_preparing_runner(Backend& backend, const Common& common) {
  Runner runner = make_runner(backend, common);
  if (backend.name() == "reference") return runner;
  runner.options.one_size_per_name = true;
  runner.prepare = [](Model& model) {
    const std::unique_ptr<Backend> judge = reference_backend();
    graphopt::prepare(model, judged_by(*judge));
  };
  return runner;
}

PassContext judged_by(Backend& judge) {
  PassContext context;
  context.judge = &judge;
  context.standard_types = standard_types;
  return context;
}

}  // namespace mlopt::cli
