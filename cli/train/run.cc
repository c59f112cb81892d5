#include "cli/train/run.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "cli/backends.h"
#include "cli/output.h"
#include "cli/ranks.h"
#include "cli/recipes/qat.h"
#include "cli/train/offload.h"
#include "cli/train/precision.h"
#include "cli/train/preparation.h"
#include "cli/train/session.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/gather.h"
#include "core/onnx/infer.h"
#include "core/onnx/tools.h"
#include "core/train/agreement.h"
#include "core/train/constants.h"
#include "core/train/reset.h"
#include "core/train/residuals.h"
#include "core/train/untie.h"
#include "quantize/emit/read_qdq.h"

namespace mlopt::cli {
namespace {

/// The shapes of the model's inputs in a portion of a batch, and the values of those without axes: they are no part of
/// a sample but say what the model does (a sampling rate, a flag).
void fit_inputs(const Dataset& data, TrainingPlan& plan) {
  plan.inputs.settle = settle_shapes;
  const std::vector<int64_t> first(static_cast<size_t>(plan.loop.portion()), 0);
  for (const Datum& input : gather(data, first).inputs) {
    const Tensor& tensor = input.tensor();
    if (tensor.rank() == 0) plan.inputs.fixed.emplace(plan.inputs.dims.size(), tensor);
    plan.inputs.dims.push_back(tensor.dims());
  }
}

/// A model that takes so many samples at a time computes the gradients of a batch one portion after the other.
void fit_portions(const Dataset& data, train::LoopSettings& loop) {
  const int64_t fixed = data.batch_size(), own = loop.batch / loop.ranks->size();
  if (fixed == 0 || fixed == loop.portion()) return;
  if (loop.accumulate > 1)
    usage_error(fmt::format("the model takes {} samples at a time, which --batch-size says by itself", fixed),
                "--accumulate", "leave it out");
  if (own % fixed != 0)
    usage_error(fmt::format("the model takes {} samples at a time, of which a batch of {} is no multiple", fixed, own),
                "--batch-size", fmt::format("give a multiple of {}", fixed * loop.ranks->size()));
  loop.accumulate = own / fixed;
}

/// What the training goes on from.
train::Standing resumed(const TrainOptions& o, const train::TrainingGraphs& graphs, const std::string& spec,
                        Session& session) {
  if (!o.resume) return {};
  train::Standing standing;
  if (session.writes()) {
    const auto warn = [&](const std::string& text) { session.console.warn(text); };
    const auto found = train::load_checkpoint(o.checkpoint, graphs, spec, warn);
    if (!found) input_error("no checkpoint to go on from", o.checkpoint, "begin without --resume");
    standing = *found;
    if (!o.patience)
      standing.best.weights.clear();
    else if (standing.best.weights.empty())
      standing.best = {};  // the run before kept none
  }
  train::share_standing(*session.ranks, graphs, standing);
  session.report.line(fmt::format("resumed after update {}", standing.steps));
  return standing;
}

/// What compressed gradients still owed when the checkpoint was written.
void resume_residuals(const TrainOptions& o, const train::LoopSettings& loop, const train::TrainingGraphs& graphs,
                      train::Trainer& trainer, Session& session) {
  if (!o.resume || !loop.compression.kind || session.ranks->size() == 1) return;
  const NamedTensors residuals =
      train::load_residuals(o.checkpoint, trainer.done(), *session.ranks, graphs.gradient_states, *graphs.state);
  if (!residuals.empty()) return trainer.set_residuals(residuals);
  session.report.line("what --compress had left over is not there for these ranks: it begins anew");
}

/// Ranks that train different things would go on without a word, and their mean be of no use.
void require_same_training(const TrainingPlan& plan, const train::TrainingGraphs& graphs, train::Communicator& ranks) {
  if (ranks.size() == 1) return;
  const std::string rest = fmt::format("{};{} samples", plan.spec, plan.data->size());
  train::require_agreement(ranks, train::digest_of(graphs, rest),
                           "the ranks do not train the same model with the same options on the same data",
                           "give all of them the same files, for example on a shared disk");
}

std::string shared_by(const train::Communicator& ranks) {
  return ranks.size() == 1 ? "" : fmt::format(", shared by {} ranks ({})", ranks.size(), ranks.name());
}

/// The end of the parallel part: only rank 0 has more to do.
void close_ranks(const std::vector<Epoch>& epochs, int64_t updates, Session& session) {
  session.ranks->close();
  double seconds = 0, waiting = 0;
  for (const Epoch& epoch : epochs) {
    seconds += epoch.seconds;
    waiting += epoch.reduce;
  }
  report_ranks(*session.ranks, updates, seconds, waiting, session.report);
}

void check(const TrainOptions& o, bool needs_data, const Session& session) {
  if (o.resume && o.checkpoint.empty()) usage_error("--resume needs the folder of the checkpoints", "--checkpoint");
  if (o.checkpoint_every && o.checkpoint.empty())
    usage_error("--checkpoint-every needs a folder", "--checkpoint-every", "give one with --checkpoint");
  if (o.checkpoint_every && *o.checkpoint_every < 1)
    usage_error("a number of at least 1 is needed", "--checkpoint-every");
  check_precision(o);
  check_offload(o, session.common.device);
  if (needs_data && o.verb.data.spec.empty()) usage_error("training needs data", "--data", "see --help");
  if (session.writes() && !o.checkpoint.empty()) train::open_checkpoints(o.checkpoint, o.resume);
}

/// Puts a model in the form that --qat trains, where that is asked for or its layers have weights in codes.
std::optional<Qat> begin_rounding(const TrainOptions& o, TrainingPlan& plan, train::Copies& copies, Session& session) {
  if (o.qat.empty() && !o.layer_plan.empty()) usage_error("a plan gives layers formats of --qat", "--layer-plan");
  if (o.qat.empty() && o.qat_schedule != TrainOptions().qat_schedule)
    usage_error("there are no widths that could fall", "--qat-schedule", "give --qat with such as w2");
  if (o.qat.empty() && !quantize::has_coded_layers(plan.model)) return std::nullopt;
  Qat qat = o.qat.empty() ? begin_coded(plan.model, session) : begin_qat(o, plan.model, *plan.data, session);
  plan.model = clone(qat.model);
  copies = train::untie_weights(plan.model, std::move(copies));
  return qat;
}

TrainingPlan make_plan(const TrainOptions& o, const TrainingSteps& steps, const Model& source, Session& session) {
  const uint64_t seed = session.common.seed;
  TrainingPlan plan;
  plan.model = steps.model ? steps.model(source) : clone(source);
  inline_functions(plan.model);
  train::constants_to_initializers(plan.model);
  train::Copies copies = train::untie_weights(plan.model);
  if (o.reset_weights) train::reset_weights(plan.model, seed);
  plan.data = steps.data ? steps.data(plan.model) : open_data(o.verb.data, plan.model, {.seed = seed});
  const std::optional<Qat> qat = begin_rounding(o, plan, copies, session);
  plan.loop = loop_of(o, plan.data->size(), seed);
  share_loop(o, session.ranks, plan.loop);
  fit_portions(*plan.data, plan.loop);
  plan.recipe = recipe_of(o, plan.model);
  plan.recipe.choice.copies = std::move(copies);
  fit_inputs(*plan.data, plan);
  plan.recipe.accumulate = plan.loop.accumulate > 1;
  plan.recipe.mixed = plan.loop.augmentation.mixup > 0;
  if (qat) join_qat(o, *qat, plan);
  plan.loss = plan.recipe.loss->name;
  plan.spec = spec_of(o, plan.loop);
  if (steps.adapt) steps.adapt(plan);
  std::vector<const Model*> models = plan.teachers;
  models.push_back(&plan.model);
  train::require_named(plan.recipe.precision, models);
  return plan;
}

void report_recomputed(const train::Recomputed& r, Report& report) {
  report.line(fmt::format("{} nodes are computed again, in {} pieces: values take {:.0f} MB at once, not {:.0f}",
                          r.nodes, r.pieces, static_cast<double>(r.bytes_after) / 1e6,
                          static_cast<double>(r.bytes_before) / 1e6));
}

void report_dropouts(const train::Dropouts& d, Session& session) {
  if (!d.repeating.empty())
    session.console.warn("random numbers that are the same in each update: " + join(d.repeating, ", "));
  if (d.nodes == 0) return;
  const std::string least = d.least == d.most ? "" : fmt::format("{:.3g} to ", 100 * d.least);
  session.report.line(
      fmt::format("dropout while training: {}{:.3g} %, in {} of the model's nodes (--dropout off: none)", least,
                  100 * d.most, d.nodes));
  session.report.data["dropouts"] = d.nodes;
}

/// In the graphs, on average.
double seconds_of_portion(const std::vector<Epoch>& epochs, int64_t updates, const train::LoopSettings& loop) {
  double seconds = 0;
  for (const Epoch& epoch : epochs) seconds += epoch.seconds - epoch.wait - epoch.reduce;
  return seconds / static_cast<double>(std::max<int64_t>(1, updates * loop.accumulate));
}

/// What preparing the graph of gradients brings, unless nothing is to be measured. Nothing that goes wrong here is
/// worth the training.
void compare_preparation(const TrainOptions& o, const Model& before, const train::TrainingGraphs& graphs,
                         train::Trainer& trainer, Backend& backend, const CompileOptions& compile, double run_seconds,
                         Session& session) {
  if (o.verb.no_bench || !session.writes()) return;
  try {
    const std::vector<Datum> inputs = trainer.next_inputs();
    report_preparation(
        measure_preparation(before, graphs, inputs, backend, compile, o.verb.bench_seconds(), run_seconds),
        session.report);
  } catch (const std::exception& e) {
    session.console.warn(fmt::format("the gain of preparing the graph of gradients was not measured: {}", e.what()));
  }
}

/// Makes of what was trained what is written.
void deploy(TrainingPlan& plan, VerbResult& result, Session& session) {
  if (!plan.deploy) return;
  const Left left = plan.deploy(plan.model);
  report_left(left, session.report);
  result.declined = declined_json(left, "node");
}

/// Puts what was learned into the plan's model.
std::vector<Epoch> teach(const TrainOptions& o, TrainingPlan& plan, VerbResult& result, Session& session) {
  const std::unique_ptr<Backend> backend = open_backend(session.common.device);
  session.ranks = plan.loop.ranks = ranks_on(session.common.device, session.ranks);
  train::TrainingGraphs graphs = train::make_graphs(plan.model, plan.inputs, plan.recipe, standard_types);
  session.report.line(fmt::format("training {} tensors of {} numbers: {}, {}, {} updates of {} samples{}",
                                  graphs.parameters.size(), graphs.trained, plan.loss, plan.recipe.optimizer->name,
                                  plan.loop.schedule.steps, plan.loop.batch, shared_by(*session.ranks)));
  if (plan.recipe.precision.on()) report_products(o, graphs.products, backend->name(), session.report);
  if (plan.recipe.recompute.on) report_recomputed(graphs.recomputed, session.report);
  report_dropouts(graphs.dropouts, session);
  require_same_training(plan, graphs, *session.ranks);
  const Model as_it_stands = clone(graphs.gradients);
  if (backend->name() != "reference") prepare_gradients(graphs, plan.recipe);
  const train::Offloaded offloaded = begin_offload(o, graphs, session.report);
  CompileOptions compile, of_training;
  compile.threads = session.common.threads;
  compile.seed = session.common.seed;
  const train::Standing standing = resumed(o, graphs, plan.spec, session);
  of_training = compile;
  of_training.host_traffic = std::make_shared<HostTraffic>();
  train::Trainer trainer(graphs, *plan.data, *backend, of_training, plan.loop, standing);
  resume_residuals(o, plan.loop, graphs, trainer, session);
  const Validation validation(o, plan.model, *backend, session, plan.scored_deployed ? plan.deploy : nullptr);
  Training training(o, graphs, trainer, validation, plan.spec, session);
  training.set_hooks(plan.hooks);
  std::vector<Epoch> epochs = training.run(plan.loop.schedule.steps, standing.best);
  if (graphs.scaled) report_loss_scale(trainer.loss_scale(), session.report);
  session.report.data["training_fallback_nodes"] = trainer.fallback_nodes();
  trainer.finish();
  close_ranks(epochs, trainer.done() - standing.steps, session);
  const double portion_s = seconds_of_portion(epochs, trainer.done() - standing.steps, plan.loop);
  report_offload(offloaded, *of_training.host_traffic, portion_s, session.report);
  compare_preparation(o, as_it_stands, graphs, trainer, *backend, compile, portion_s, session);
  train::store_weights(plan.model, graphs);
  deploy(plan, result, session);
  result.changes["trained"] = graphs.trained;
  result.changes["updates"] = standing.steps + training.updates();
  return epochs;
}

}  // namespace

void run_training(const TrainOptions& o, const TrainingSteps& steps, Session& session) {
  check(o, !steps.data, session);
  const Model source = begin_verb(o.verb, session);
  TrainingPlan plan = make_plan(o, steps, source, session);
  VerbResult result;
  const std::vector<Epoch> epochs = teach(o, plan, result, session);
  if (!session.writes()) return;
  if (steps.finish) steps.finish(plan.model, result);
  result.model = std::move(plan.model);
  result.may_differ = true;
  result.spec = plan.spec;
  session.report.data["epochs"] = report_epochs(epochs, o.val.empty() ? "" : o.verb.metric, session.report);
  VerbOptions verb = o.verb;
  if (!o.val.empty()) verb.data.spec = o.val;
  finish_verb(verb, source, std::move(result), session);
  if (!o.html.empty()) write_text(o.html, to_html(session.report));
}

}  // namespace mlopt::cli
