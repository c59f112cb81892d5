#include "cli/recipes/sparse_training.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "prune/dropouts.h"
#include "prune/penalties.h"

namespace mlopt::cli {
namespace {

void check(const TrainOptions& o, const prune::Spec& spec) {
  if (o.patience)
    usage_error("the best weights may be those of an epoch in which what goes was still there", "--patience",
                "leave it out");
  if (!o.qat.empty())
    unsupported_error("integers beside a pruning that is trained are not supported yet", "--qat",
                      "prune first, then mlopt train --qat --keep-zeros");
  if (!prune::scheduled(spec)) return;
  if (!o.sync.empty())
    unsupported_error("what each rank would remove by itself is not the same", "--sync", "leave it out");
  if (!o.checkpoint.empty() && spec.iterations > 0 && spec.schedule != prune::kGradual &&
      spec.method != prune::kMovement)
    unsupported_error("a training that goes back to an earlier update cannot be resumed yet", "--checkpoint",
                      "leave it out, or use --prune-schedule gradual");
}

void adapt_plan(const SparseTraining& how, TrainingPlan& plan) {
  const prune::Spec& spec = how.spec;
  plan.spec = fmt::format("{} by {}", prune::to_string(spec), plan.spec);
  const int64_t steps = plan.loop.schedule.steps;
  if (prune::scheduled(spec)) {
    prune::ScheduleParts parts = prune::schedule_parts({plan.model, spec, steps, how.prune});
    plan.recipe.constrain = std::move(parts.constrain);
    plan.hooks = std::move(parts.hooks);
    return;
  }
  if (spec.method == prune::kDropout) return prune::add_dropout(plan.recipe, plan.model, spec, plan.loop.schedule);
  prune::add_penalty(plan.recipe, plan.model, spec, plan.loop.schedule);
}

}  // namespace

void run_sparse_training(const DistillOptions& options, const SparseTraining& sparse, Session& session) {
  check(options.train, sparse.spec);
  const auto how = std::make_shared<DistillOptions>(options);
  how->teachers = {how->train.verb.model};
  Model source;
  TrainingSteps steps;
  if (sparse.distill) steps = distill_steps(how, session);
  steps.adapt = [&, adapt = steps.adapt](TrainingPlan& plan) {
    if (adapt) adapt(plan);
    source = clone(plan.model);
    adapt_plan(sparse, plan);
  };
  steps.finish = [&](Model& trained, VerbResult& result) {
    VerbResult made = sparse.finish(source, trained);
    trained = std::move(made.model);
    result.declined = std::move(made.declined);
    result.not_verified = std::move(made.not_verified);
    result.changes["pruning"] = std::move(made.changes);
  };
  run_training(how->train, steps, session);
}

}  // namespace mlopt::cli
