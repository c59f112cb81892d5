#include <fmt/core.h>

#include <memory>

#include "backends/reference/backend.h"
#include "cli/commands.h"
#include "cli/distill/options.h"
#include "cli/train/run.h"
#include "core/base/error.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "distill/objective.h"

namespace mlopt::cli {
namespace {

/// Replaces the loss of the plan by what the teachers say.
void adapt(const DistillOptions& o, TrainingPlan& plan, Session& session) {
  const distill::Settings settings = settings_of(o, plan.recipe, plan.data->labelled());
  std::vector<distill::Teacher> teachers;
  for (const std::string& path : o.teachers)
    teachers.push_back(distill::make_teacher(read_model(path), plan.model, plan.dims, standard_types));
  const auto wiring = std::make_shared<distill::Wiring>(
      distill::wire(plan.model, std::move(teachers), plan.dims, settings, standard_types));
  const std::unique_ptr<Backend> judge = reference_backend();
  PassContext context;
  context.judge = judge.get();
  context.standard_types = standard_types;
  for (distill::Teacher& teacher : wiring->teachers) distill::tap(teacher, context);
  const distill::ObjectiveSettings how{settings.hard, settings.temperature, session.common.seed};
  plan.recipe.objective = [wiring, how](train::LossArgs& args) { return distill::objective(args, *wiring, how); };
  plan.loss = distill::in_words(*wiring);
  plan.spec = "distill" + plan.spec.substr(plan.spec.find(':')) + spec_of(o);
}

Action setup(Options& options) {
  const auto o = std::make_shared<DistillOptions>();
  declare_distill(options, *o);
  return [o](Session& session) {
    TrainingSteps steps;
    steps.adapt = [&](TrainingPlan& plan) { adapt(*o, plan, session); };
    run_training(o->train, steps, session);
  };
}

}  // namespace

Command distill_command() {
  return {.name = "distill",
          .arguments = "STUDENT --teacher MODEL -o OUT --data SPEC",
          .summary = "train a network to follow a better one, with labels or without",
          .examples = {{{"distill small.onnx --teacher large.onnx -o better.onnx --data images:train/,resize=224x224 "
                         "--val images:val/,resize=224x224 --metric top1 --epochs 30 --optimizer sgd --lr 0.1",
                         "a small classifier learns from a large one and from labels"},
                        {"distill pruned.onnx --teacher full.onnx -o mended.onnx --data images:unlabelled/ --lr 0.0001",
                         "mend a pruned model without labels"}}},
          .setup = setup};
}

}  // namespace mlopt::cli
