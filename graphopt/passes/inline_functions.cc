// Calls of the model's local functions -> their bodies, so that every other pass sees through them.
#include "core/base/error.h"
#include "core/onnx/tools.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

void run(Model& model, const PassContext&, PassTally& tally) {
  if (model.functions.empty()) return;
  const auto functions = static_cast<int64_t>(model.functions.size());
  Model inlined = clone(model);
  try {
    inline_functions(inlined);
  } catch (const Error& e) {
    if (e.code == Code::kInternal) throw;
    ++tally.declined[e.message];
    tally.example.emplace(e.message, model.functions.front().name);
    return;
  }
  model = std::move(inlined);
  tally.applied = functions;
}

}  // namespace

const Pass inline_functions_pass = {"inline_functions", "replace calls of local functions by their bodies", nullptr,
                                    run};

}  // namespace mlopt::graphopt
