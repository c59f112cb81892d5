#include "prune/prune.h"

#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "cli/distill/steps.h"
#include "cli/output.h"
#include "cli/prune/amc.h"
#include "cli/prune/analyse.h"
#include "cli/prune/dynamic.h"
#include "cli/prune/groups.h"
#include "cli/prune/options.h"
#include "cli/prune/pruner.h"
#include "cli/prune/settled.h"
#include "cli/prune/tokens.h"
#include "cli/prune/zeros.h"
#include "cli/recipes/sparse_training.h"
#include "cli/recipes/sparsity.h"
#include "cli/verb/left.h"
#include "cli/verb/trial.h"
#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "prune/schedules.h"

namespace mlopt::cli {
namespace {

Pruner pruner_of(const PruneOptions& o, const Model& source, const Session& session) {
  return {o.distill.train, o.calibration_samples, source, session};
}

/// The source pruned, and what there is to say of it. `before`: what it was made of, if of anything.
VerbResult prune_source(const PruneOptions& o, const Model& source, prune::Spec spec, Session& session,
                        const Model* before = nullptr) {
  Pruner prune = pruner_of(o, source, session);
  prune.compare_with(before);
  const TryPruning tried = [&](const prune::Spec& one) { return prune.tried(one); };
  if (prune::needs_curves(spec)) prune.use(curves_for(o.curves, o.verb, spec, source, tried, session));
  if (o.sparsity == kSearched)
    spec.sparsity = search_sparsity(o.verb, source, session, [&](double sparsity) {
      spec.sparsity = sparsity;
      return std::move(tried(spec).model);
    });
  std::unique_ptr<AmcSearch> search;
  if (spec.allocation == prune::kAmc) {
    search = std::make_unique<AmcSearch>(o.search, o.verb, spec, source, session);
    prune.use(search->means());
  }
  prune::Pruned made = prune(spec);
  if (made.samples > 0 && o.verb.data.spec.starts_with("random"))
    made.warnings.emplace_back(
        "random numbers are not what the model will see: this result is good for measuring only");
  for (const std::string& sentence : made.warnings) session.console.warn(sentence);
  session.report.data["warnings"] = made.warnings;
  VerbResult result;
  result.spec = prune::to_string(made.spec);
  result.declined = declined_json(made.left, "layer");
  result.may_differ = true;
  result.not_verified = made.not_verified;
  if (spec.granularity.kind() == prune::Kind::kStructure) {
    result.changes = report_channels(made, session.report);
    if (!o.explain) report_left(made.left, session.report);
    report_groups(made, o.explain, session.report);
    report_tried(made, session.report);
    report_episodes(made, session.report);
  } else {
    result.changes = report_total(made, session.report);
    report_left(made.left, session.report);
    report_layers(made, session.report);
  }
  result.model = std::move(made.model);
  return result;
}

/// A training in which zeros stay, by labels or by what the source gives.
void retrain(const PruneOptions& o, const prune::Spec& spec, Session& session) {
  const auto how = std::make_shared<DistillOptions>(o.distill);
  how->train.keep_zeros = true;
  how->teachers = {o.verb.model};
  TrainingSteps steps;
  if (retraining(o) == "distill") steps = distill_steps(how, session);
  steps.model = [&, student = steps.model](const Model& source) {
    const auto before = settled_before(how->train, spec);
    VerbResult made = prune_source(o, student ? student(source) : clone(source), before.value_or(spec), session);
    if (!before) keep_settled(how->train, spec, made.spec);
    session.report.data["pruning"] = made.changes;
    return std::move(made.model);
  };
  steps.adapt = [&, adapt = steps.adapt](TrainingPlan& plan) {
    if (adapt) adapt(plan);
    plan.spec = fmt::format("{} then {}", prune::to_string(spec), plan.spec);
  };
  run_training(how->train, steps, session);
}

/// What a schedule has removed already is what this removes.
prune::Spec behind(prune::Spec spec) {
  if (!prune::scheduled(spec)) return spec;
  if (spec.method == prune::kMovement) spec.method = "magnitude";
  spec.schedule.clear();
  spec.every = spec.rewind = 0;
  spec.iterations = 1;
  return spec;
}

/// The share of channels that a target of FLOPs or of time means; widths are as the source's shapes decide.
prune::Spec with_share(const PruneOptions& o, prune::Spec spec, Session& session) {
  if (!spec.flops && !spec.latency) return spec;
  if (const auto before = settled_before(o.distill.train, spec)) return *before;
  const prune::Spec asked = spec;
  if (o.verb.model == "-")
    usage_error("the search for a share of channels and the training both read the model, standard input only once",
                "MODEL", "name a file, or give --sparsity");
  prune::Spec searched = spec;
  searched.method = "magnitude";
  searched.penalty = searched.dropout = {};
  const Model source = read_source(o.verb);
  const prune::Pruned made = pruner_of(o, source, session).tried(searched);
  spec.sparsity = made.share;
  spec.round = made.spec.round;
  spec.flops = spec.latency = std::nullopt;
  keep_settled(o.distill.train, asked, prune::to_string(spec));
  return spec;
}

/// A training in the course of which it is removed, or learns to do without.
void train_sparse(const PruneOptions& o, const prune::Spec& asked, Session& session) {
  const prune::Spec spec = with_share(o, asked, session);
  Model now;  // what is pruned in the course of it
  std::unique_ptr<Pruner> pruner;
  SparseTraining how;
  how.spec = spec;
  how.distill = retraining(o) == "distill";
  how.finish = [&](const Model& source, const Model& trained) {
    return prune_source(o, trained, behind(spec), session, &source);
  };
  how.prune = [&](const Model& model, const prune::Spec& part, const prune::Movements* movements) {
    now = clone(model);
    if (!pruner) pruner = std::make_unique<Pruner>(o.distill.train, o.calibration_samples, now, session);
    pruner->use(movements);
    return pruner->zeroed(part);
  };
  run_sparse_training(o.distill, how, session);
}

void analyse(const PruneOptions& o, const prune::Spec& spec, Session& session) {
  const AnalysisFiles files{o.csv, o.distill.train.html};
  check_analysis(o.verb, files, session);
  if (!retraining(o).empty()) usage_error("--analyse trains nothing", "--recover", "leave out train and distill");
  if (prune::scheduled(spec)) usage_error("--analyse trains nothing", "--prune-schedule", "leave it out");
  const Model source = read_source(o.verb);
  Pruner prune = pruner_of(o, source, session);
  analyse_pruning(
      o.verb, spec, source, [&](const prune::Spec& one) { return prune.tried(one); }, session);
  write_analysis(files, session.report);
}

/// Else they would say how a training goes that there is none of.
void refuse_training_options(const Options& options) {
  for (const Option& option : options.all())
    if (option.trains && !option.given.empty())
      usage_error("nothing is trained", option.shown(), "add --recover train or distill, or leave it out");
}

/// One removal, without a training.
void remove(const PruneOptions& o, const prune::Spec& spec, Session& session) {
  const std::string& html = o.distill.train.html;
  if (html == "-") session.claim_stdout("--html -");
  const Model source = begin_verb(o.verb, session);
  finish_verb(o.verb, source, prune_source(o, source, spec, session), session);
  if (!html.empty()) write_text(html, to_html(session.report));
}

void run(const PruneOptions& o, const Options& options, Session& session) {
  if (o.method == kDynamic) {
    if (o.granularity == kToken) refuse_training_options(options);
    return prune_at_run_time(o, session);
  }
  if (!o.exit_at.empty()) usage_error("only --method dynamic has an exit", "--exit-at", "leave it out");
  if (o.granularity == kToken || !o.tokens_at.empty())
    usage_error("tokens are left out while the model runs", o.tokens_at.empty() ? "--granularity" : "--tokens-at",
                "add --method dynamic --granularity token");
  const prune::Spec spec = spec_of(o, session.common);
  if (!o.curves.empty() && !prune::needs_curves(spec))
    usage_error("--curves are of --allocation sensitivity and latency, and of amc with --latency", "--curves",
                "leave it out");
  if (o.calibration_samples < 1) usage_error("at least one sample is looked at", "--calibration-samples");
  if (!o.analyse && !o.csv.empty()) usage_error("--csv holds the tables of --analyse", "--csv", "add --analyse");
  const bool sparse = prune::scheduled(spec) || spec.method == prune::kRegularization || spec.method == prune::kDropout;
  if (o.analyse || (!sparse && retraining(o).empty())) refuse_training_options(options);
  if (o.analyse) return analyse(o, spec, session);
  if (sparse) return train_sparse(o, spec, session);
  if (!retraining(o).empty()) return retrain(o, spec, session);
  remove(o, spec, session);
}

Action setup(Options& options) {
  const auto o = std::make_shared<PruneOptions>();
  declare_prune(options, *o);
  return [o, &options](Session& session) { run(*o, options, session); };
}

}  // namespace

Command prune_command() {
  return {.name = "prune",
          .arguments = "MODEL -o OUT --sparsity S",
          .summary = "remove what a model needs least",
          .examples = {{{"prune resnet.onnx -o half.onnx --sparsity 0.5",
                         "zeros in place of the half of the weights that is needed least"},
                        {"prune resnet.onnx -o small.onnx --granularity channel --flops 50%",
                         "fewer channels, so that half of the arithmetic is left"}}},
          .setup = setup};
}

}  // namespace mlopt::cli
