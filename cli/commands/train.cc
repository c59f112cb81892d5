#include <fmt/core.h>

#include <memory>

#include "backends/reference/backend.h"
#include "cli/backends.h"
#include "cli/commands.h"
#include "cli/runner.h"
#include "cli/train/session.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/data/gather.h"
#include "core/onnx/infer.h"
#include "core/train/constants.h"
#include "core/train/reset.h"
#include "core/train/untie.h"

namespace mlopt::cli {
namespace {

/// Shapes of the model's inputs in a portion of a batch.
std::vector<Dims> shapes_of(const Dataset& data, int64_t samples) {
  const std::vector<int64_t> first(static_cast<size_t>(samples), 0);
  std::vector<Dims> shapes;
  for (const Datum& input : gather(data, first).inputs) shapes.push_back(input.tensor().dims());
  return shapes;
}

/// A model that takes one sample at a time computes the gradients of a batch one after the other.
void fit_portions(const Dataset& data, train::LoopSettings& loop) {
  const int64_t fixed = data.batch_size();
  if (fixed == 0 || fixed == loop.batch / loop.accumulate) return;
  if (fixed > 1 || loop.accumulate > 1)
    usage_error(fmt::format("the model takes {} samples at a time", fixed), "--batch-size",
                "give that many, or free the first dimension of its inputs");
  loop.accumulate = loop.batch;
}

/// What the training goes on from.
train::Standing resumed(const TrainOptions& o, const train::TrainingGraphs& graphs, Session& session) {
  if (!o.resume) return {};
  const auto warn = [&](const std::string& text) { session.console.warn(text); };
  const auto found = train::load_checkpoint(o.checkpoint, graphs, spec_of(o, session.common.seed), warn);
  if (!found) input_error("no checkpoint to go on from", o.checkpoint, "begin without --resume");
  session.report.line(fmt::format("resumed after update {}", found->steps));
  return *found;
}

void run(const TrainOptions& o, Session& session) {
  if (o.resume && o.checkpoint.empty()) usage_error("--resume needs the folder of the checkpoints", "--checkpoint");
  if (o.checkpoint_every && *o.checkpoint_every < 1)
    usage_error("a number of at least 1 is needed", "--checkpoint-every");
  if (o.verb.data.spec.empty()) usage_error("training needs data", "--data", "see --help");
  if (!o.log.empty()) require_writable(o.log);
  if (!o.checkpoint.empty()) train::open_checkpoints(o.checkpoint, o.resume);
  const Model source = begin_verb(o.verb, session);
  Model model = clone(source);
  train::constants_to_initializers(model);
  train::untie_weights(model);
  if (o.reset_weights) train::reset_weights(model, session.common.seed);
  const auto data = open_data(o.verb.data, model, {.seed = session.common.seed});
  train::LoopSettings loop = loop_of(o, data->size(), session.common.seed);
  fit_portions(*data, loop);
  train::Recipe recipe = recipe_of(o, model);
  recipe.accumulate = loop.accumulate > 1;
  const train::TrainingGraphs graphs =
      train::make_graphs(model, shapes_of(*data, loop.batch / loop.accumulate), recipe, standard_types);
  session.report.line(fmt::format("training {} tensors of {} numbers: {}, {}, {} updates of {} samples",
                                  graphs.parameters.size(), graphs.trained, recipe.loss->name, recipe.optimizer->name,
                                  loop.schedule.steps, loop.batch));

  const std::unique_ptr<Backend> backend = open_backend(session.common.device);
  CompileOptions compile;
  compile.threads = session.common.threads;
  compile.seed = session.common.seed;
  const train::Standing standing = resumed(o, graphs, session);
  train::Trainer trainer(graphs, *data, *backend, compile, loop, standing.steps, standing.slower);
  const Validation validation(o, model, *backend, session);
  const std::vector<Epoch> epochs = Training(o, graphs, trainer, validation, session).run(loop.schedule.steps);

  session.report.data["training_fallback_nodes"] = trainer.fallback_nodes();
  VerbResult result;
  train::store_weights(model, graphs);
  result.model = std::move(model);
  result.may_differ = true;
  result.spec = spec_of(o, session.common.seed);
  result.changes["trained"] = graphs.trained;
  result.changes["updates"] = loop.schedule.steps;
  session.report.data["epochs"] = report_epochs(epochs, o.val.empty() ? "" : o.verb.metric, session.report);
  VerbOptions verb = o.verb;
  if (!o.val.empty()) verb.data.spec = o.val;
  finish_verb(verb, source, std::move(result), session);
}

Action setup(Options& options) {
  const auto o = std::make_shared<TrainOptions>();
  declare_train(options, *o);
  return [o](Session& session) { run(*o, session); };
}

}  // namespace

Command train_command() {
  return {.name = "train",
          .arguments = "MODEL -o OUT --data SPEC",
          .summary = "train an ONNX model on labelled data, from its weights or from random ones",
          .examples = {{{"train resnet.onnx -o tuned.onnx --data images:train/,resize=224x224 --val "
                         "images:val/,resize=224x224 --metric top1 --epochs 3 --lr 0.0001",
                         "fine-tune a classifier"},
                        {"train mlp.onnx -o mlp2.onnx --data csv:iris.csv --epochs 50 --reset-weights --metric top1",
                         "train from random weights"}}},
          .setup = setup};
}

}  // namespace mlopt::cli
