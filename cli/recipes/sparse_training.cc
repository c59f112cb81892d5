#include "cli/recipes/sparse_training.h"

#include <fmt/core.h>

#include "prune/dropouts.h"
#include "prune/penalties.h"

namespace mlopt::cli {

void run_sparse_training(const DistillOptions& options, bool distill, const prune::Spec& spec,
                         const std::function<VerbResult(const Model& trained)>& prune, Session& session) {
  const auto how = std::make_shared<DistillOptions>(options);
  how->teachers = {how->train.verb.model};
  TrainingSteps steps;
  if (distill) steps = distill_steps(how, session);
  steps.adapt = [&, adapt = steps.adapt](TrainingPlan& plan) {
    if (adapt) adapt(plan);
    plan.spec = fmt::format("{} by {}", prune::to_string(spec), plan.spec);
    if (spec.method == prune::kDropout) return prune::add_dropout(plan.recipe, plan.model, spec, plan.loop.schedule);
    plan.recipe.constrain =
        [&spec, &model = plan.model, pull = prune::PenaltyPlan{*spec.sparsity, plan.loop.schedule.steps}](
            train::Constraint& at) { prune::find_penalty({}, spec.granularity).add(at, model, spec, pull); };
  };
  steps.finish = [&](Model& trained, VerbResult& result) {
    VerbResult made = prune(trained);
    trained = std::move(made.model);
    result.declined = std::move(made.declined);
    result.not_verified = std::move(made.not_verified);
    result.changes["pruning"] = std::move(made.changes);
  };
  run_training(how->train, steps, session);
}

}  // namespace mlopt::cli
