#include "cli/prune/pruner.h"

#include "backends/reference/backend.h"
#include "cli/large.h"
#include "cli/runner.h"
#include "cli/train/preparation.h"

namespace mlopt::cli {

Pruner::Pruner(const TrainOptions& options, int64_t calibration_samples, const Model& source, const Session& session)
    : flags_(options.verb.data),
      source_(source),
      backend_(open_backend_for(session.common.device, source)),
      judge_(reference_backend()),
      runner_(make_runner(*backend_, session.common)),
      watch_(options.verb, source, session) {
  if (!flags_.spec.empty()) data_ = open_data(flags_, source, {.seed = session.common.seed});
  means_.runner = &runner_;
  means_.passes = judged_by(*judge_);
  means_.passes.fold_bytes = usual_fold_bytes(source);
  means_.time = [this](const Model& model) { return watch_.share(model); };
  means_.data = data_.get();
  means_.calibration_samples = calibration_samples;
  means_.spill = waiting_folder(source, options.verb.output);
  const train::Recipe recipe = recipe_of(options, source);
  means_.loss = recipe.loss;
  means_.loss_output = recipe.output;
  means_.settle = settle_shapes;
}

prune::Pruned Pruner::operator()(const prune::Spec& spec) {
  prune::Pruned made;
  with_data_hint(flags_, source_, [&] { made = prune::prune(source_, spec, means_); });
  return made;
}

prune::Pruned Pruner::tried(const prune::Spec& spec) {
  means_.prove = false;
  prune::Pruned made = (*this)(spec);
  means_.prove = true;
  return made;
}

Model Pruner::zeroed(const prune::Spec& spec) {
  means_.cut = false;
  Model made = std::move(tried(spec).model);
  means_.cut = true;
  return made;
}

}  // namespace mlopt::cli
