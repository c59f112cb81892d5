#include "prune/prune.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "backends/reference/backend.h"
#include "cli/backends.h"
#include "cli/commands.h"
#include "cli/distill/steps.h"
#include "cli/output.h"
#include "cli/prune/analyse.h"
#include "cli/prune/groups.h"
#include "cli/prune/zeros.h"
#include "cli/recipes/sparse_training.h"
#include "cli/recipes/sparsity.h"
#include "cli/runner.h"
#include "cli/train/preparation.h"
#include "cli/verb/left.h"
#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "prune/allocations.h"
#include "prune/criteria.h"
#include "prune/dropouts.h"
#include "prune/scales.h"

namespace mlopt::cli {
namespace {

struct PruneOptions {
  DistillOptions distill;  // of which --recover train and distill take more than what every verb takes
  VerbOptions& verb = distill.train.verb;
  std::string method = "magnitude", granularity, sparsity, threshold, flops, round, allocation, scale, norm, drop,
              recover;
  bool explain = false, analyse = false;
  std::string csv;
  std::vector<std::string> only, skip;
  std::optional<int64_t> stages, iterations;
  int64_t calibration_samples = 128;
};

constexpr const char* kSearched = "auto";

/// --recover lists what is done, in the order in which it is: lstsq, bn, then train or distill. Gives the first two.
std::string fits(const PruneOptions& o) {
  std::vector<std::string> all = list_items({o.recover}), list;
  for (const char* how : {"lstsq", "bn"})
    if (std::find(all.begin(), all.end(), how) != all.end()) list.emplace_back(how);
  return join(list, ",");
}
std::string retraining(const PruneOptions& o) {
  const std::vector<std::string> known = {"none", "lstsq", "bn", "train", "distill"};
  std::string found;
  for (const std::string& how : list_items({o.recover})) {
    if (std::find(known.begin(), known.end(), how) == known.end())
      usage_error(fmt::format("no recovery is called '{}'", how), "--recover", suggestion(how, known));
    if (how == "train" || how == "distill") found = how;
  }
  return found;
}

/// --method holds a method or a whole spec; the other options add to it.
prune::Spec spec_of(const PruneOptions& o, const Common& common) {
  std::string text = o.method;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}{}={}", text.find(':') == std::string::npos ? ":" : ";", key, value);
  };
  if (text.find("seed=") == std::string::npos) add("seed", std::to_string(common.seed));
  add("granularity", o.granularity);
  if (o.sparsity != kSearched) add("sparsity", o.sparsity);
  add("threshold", o.threshold);
  add("flops", o.flops);
  add("round", o.round);
  add("allocation", o.allocation);
  add("scale", o.scale);
  add("norm", o.norm);
  add("dropout", o.drop);
  add("recover", fits(o));
  if (o.stages) add("stages", std::to_string(*o.stages));
  if (o.iterations) add("iterations", std::to_string(*o.iterations));
  prune::Spec spec = prune::parse_spec(text);
  for (std::string& glob : list_items(o.only)) spec.only.push_back(std::move(glob));
  for (std::string& glob : list_items(o.skip)) spec.skip.push_back(std::move(glob));
  if (o.sparsity == kSearched) {
    check_search(o.verb, retraining(o).empty());
    spec.sparsity = 0;  // until the search is done
  }
  if (o.analyse && !spec.granularity.pattern() && !spec.threshold && !spec.flops) spec.sparsity = 0;  // of each share
  prune::check(spec);
  return spec;
}

prune::Pruned prune_with(const PruneOptions& o, const Model& source, const prune::Spec& spec, const Session& session) {
  const std::unique_ptr<Backend> backend = open_backend(session.common.device), judge = reference_backend();
  const Runner runner = make_runner(*backend, session.common);
  std::unique_ptr<Dataset> data;
  if (!o.verb.data.spec.empty()) data = open_data(o.verb.data, source, {.seed = session.common.seed});
  prune::Means means;
  means.runner = &runner;
  means.passes = judged_by(*judge);
  means.passes.fold_bytes = usual_fold_bytes(source);
  means.data = data.get();
  means.calibration_samples = o.calibration_samples;
  const train::Recipe recipe = recipe_of(o.distill.train, source);
  means.loss = recipe.loss;
  means.loss_output = recipe.output;
  means.settle = settle_shapes;
  prune::Pruned made;
  with_data_hint(o.verb.data, source, [&] { made = prune::prune(source, spec, means); });
  return made;
}

/// The source pruned, and what there is to say of it.
VerbResult prune_source(const PruneOptions& o, const Model& source, prune::Spec spec, Session& session) {
  if (o.sparsity == kSearched)
    spec.sparsity = search_sparsity(o.verb, source, session, [&](double sparsity) {
      spec.sparsity = sparsity;
      return std::move(prune_with(o, source, spec, session).model);
    });
  prune::Pruned made = prune_with(o, source, spec, session);
  if (made.samples > 0 && starts_with(o.verb.data.spec, "random"))
    made.warnings.emplace_back(
        "random numbers are not what the model will see: this result is good for measuring only");
  for (const std::string& sentence : made.warnings) session.console.warn(sentence);
  session.report.data["warnings"] = made.warnings;
  VerbResult result;
  result.spec = prune::to_string(spec);
  result.declined = declined_json(made.left, "layer");
  result.may_differ = true;
  result.not_verified = made.not_verified;
  if (spec.granularity.kind() == prune::Kind::kStructure) {
    result.changes = report_channels(made, session.report);
    if (!o.explain) report_left(made.left, session.report);
    report_groups(made, o.explain, session.report);
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
    VerbResult made = prune_source(o, student ? student(source) : clone(source), spec, session);
    session.report.data["pruning"] = made.changes;
    return std::move(made.model);
  };
  steps.adapt = [&, adapt = steps.adapt](TrainingPlan& plan) {
    if (adapt) adapt(plan);
    plan.spec = fmt::format("{} then {}", prune::to_string(spec), plan.spec);
  };
  run_training(how->train, steps, session);
}

void analyse(const PruneOptions& o, const prune::Spec& spec, Session& session) {
  if (o.verb.model.empty()) usage_error("no model is named", "MODEL");
  if (!o.verb.output.empty()) usage_error("--analyse writes no model", "--output", "leave one of them out");
  if (!retraining(o).empty()) usage_error("--analyse trains nothing", "--recover", "leave out train and distill");
  for (const std::string* file : {&o.csv, &o.distill.train.html})
    if (!file->empty()) require_writable(*file);
  const Model source = read_source(o.verb);
  analyse_pruning(
      o.verb, spec, source, [&](const prune::Spec& one) { return prune_with(o, source, one, session); }, session);
  if (!o.csv.empty()) write_text(o.csv, to_csv(session.report));
  if (!o.distill.train.html.empty()) write_text(o.distill.train.html, to_html(session.report));
}

void run(const PruneOptions& o, Session& session) {
  const prune::Spec spec = spec_of(o, session.common);
  if (o.calibration_samples < 1) usage_error("at least one sample is looked at", "--calibration-samples");
  if (o.analyse) return analyse(o, spec, session);
  if (!o.csv.empty()) usage_error("--csv holds the tables of --analyse", "--csv", "add --analyse");
  if (spec.method == prune::kRegularization || spec.method == prune::kDropout) {
    const auto rest = [&](const Model& trained) { return prune_source(o, trained, spec, session); };
    return run_sparse_training(o.distill, retraining(o) == "distill", spec, rest, session);
  }
  if (!retraining(o).empty()) return retrain(o, spec, session);
  const Model source = begin_verb(o.verb, session);
  finish_verb(o.verb, source, prune_source(o, source, spec, session), session);
}

/// "magnitude (the absolute value of each weight), random (...)".
template <class Row>
std::string list_of(std::span<const Row> table) {
  std::vector<std::string> rows;
  for (const Row& row : table) rows.push_back(fmt::format("{} ({})", row.name, row.doc));
  return join(rows, ", ");
}

Action setup(Options& options) {
  const auto o = std::make_shared<PruneOptions>();
  declare_train(options, o->distill.train);
  options.add("--method", o->method, "METHOD",
              "what tells which weights are needed least: " + list_of(prune::criteria()) +
                  "; or a whole spec, as the report and the model's metadata keep it (default: magnitude)");
  options.add("--granularity", o->granularity, "WHAT",
              "what is removed as one: " + list_of(prune::granularities()) + " (default: element)");
  options.add("--sparsity", o->sparsity, "S",
              "the share that is removed, from 0 to 1 or in percent; auto: as much as --max-drop allows");
  options.add("--threshold", o->threshold, "T", "instead: remove what scores less than T");
  options.add("--flops", o->flops, "SHARE",
              "instead, with channel and head: remove until this share of the multiply-accumulates stays, as in 50%");
  options.add("--round", o->round, "N",
              "channels that stay are rounded up to multiples of N, or none (default: 8, where there are at least 32)");
  options.add("--allocation", o->allocation, "HOW",
              "how much of each layer goes: " + list_of(prune::allocations()) +
                  " (default: global for magnitude of weights, else uniform; channels and heads: uniform or global)");
  options.add("--scale", o->scale, "BY",
              "what scores are divided by: " + list_of(prune::scales()) +
                  " (default: what the allocation is meant for: channel for global and lamp, else none)");
  options.add("--norm", o->norm, "NORM", "how the scores of weights that go together make one: l1 or l2 (default: l2)")
      .choices = {"l1", "l2"};
  options.add("--drop", o->drop, "HOW", "of --method dropout: " + list_of(prune::dropouts()) + " (default: targeted)");
  options.add("--calibration-samples", o->calibration_samples, "N",
              "run the model on at most N samples, evenly spaced over the data, where the method looks at what layers "
              "are given, or at gradients (default: 128)");
  options.add("--stages", o->stages, "N",
              "look at what layers are given in at most N stages, each when those before are pruned (default: 24 for "
              "sparsegpt, else 1, which is the source)");
  options.add("--recover", o->recover, "LIST",
              "what is done for what is left: lstsq (fitted, layer by layer, to what the layers gave on --data), bn "
              "(statistics of normalizations, or where they are folded biases, corrected on --data), then train (by "
              "labels) or distill (by what the source gives), with the options of these; zeros stay");
  options.add("--temperature", o->distill.temperature, "F", "of --recover distill (default: 4)");
  options.add("--alpha", o->distill.alpha, "F",
              "of --recover distill: share of the source's outputs in the loss (default: 0.9; 1 without labels)");
  options.add(
      "--iterations", o->iterations, "N",
      "remove it in N iterations, most at first, with --recover lstsq in each: better where much goes (default: "
      "1)");
  options.add("--sparse", o->verb.sparse,
              "write weights without their zeros (sparse_initializer) where that takes less room: from two thirds of "
              "zeros on in float32; ONNX Runtime makes them whole again when it loads them");
  options.add("--only", o->only, "GLOBS", "prune only layers, or weights, whose names match one of these");
  options.add("--skip", o->skip, "GLOBS", "leave layers, or weights, as they are whose names match one of these");
  options.add(
      "--explain", o->explain,
      "with channel and head: say for each group what it consists of and what couples it, and what stays and why");
  options
      .add("--analyse", o->analyse,
           "write no model: prune each layer, or group, alone by 25, 50, 75 and 90 %, and report what is left of the "
           "score (--metric) or of the outputs and what it saves; --html F draws it")
      .alone = true;
  options.add("--csv", o->csv, "FILE", "with --analyse: its tables, comma-separated");
  return [o](Session& session) { run(*o, session); };
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
