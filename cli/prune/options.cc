#include "cli/prune/options.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/recipes/sparsity.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "prune/allocations.h"
#include "prune/criteria.h"
#include "prune/dropouts.h"
#include "prune/penalties.h"
#include "prune/scales.h"
#include "prune/schedules.h"

namespace mlopt::cli {
namespace {

/// --recover lists what is done, in the order in which it is: lstsq, bn, then train or distill. Gives the first two.
std::string fits(const PruneOptions& o) {
  std::vector<std::string> all = list_items({o.recover}), list;
  for (const char* how : {"lstsq", "bn"})
    if (std::find(all.begin(), all.end(), how) != all.end()) list.emplace_back(how);
  return join(list, ",");
}

/// What is removed, of a spec that also says how it was trained: "SPEC by train:..." or "SPEC then distill:...".
std::string pruning_of(const PruneOptions& o) {
  if (o.method.starts_with("dynamic:"))
    usage_error("what a model does as it runs is not taken from a spec", "--method",
                "give --method dynamic with --exit-at or --tokens-at, and the options of the training");
  for (const std::string_view begins : {" by train:", " by distill:", " then train:", " then distill:"}) {
    const size_t at = o.method.find(begins);
    if (at == std::string::npos) continue;
    if (begins.starts_with(" then") && retraining(o).empty())
      usage_error("the spec goes on with a training", "--method",
                  "give --recover train or distill with its options, or the spec up to ' then '");
    return o.method.substr(0, at);
  }
  return o.method;
}

/// "magnitude (the absolute value of each weight), random (...)".
template <class Row>
std::string list_of(std::span<const Row> table) {
  std::vector<std::string> rows;
  for (const Row& row : table) rows.push_back(fmt::format("{} ({})", row.name, row.doc));
  return join(rows, ", ");
}

}  // namespace

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

prune::Spec spec_of(const PruneOptions& o, const Common& common) {
  std::string text = pruning_of(o);
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}{}={}", text.find(':') == std::string::npos ? ":" : ";", key, value);
  };
  if (text.find("seed=") == std::string::npos) add("seed", std::to_string(common.seed));
  add("granularity", o.granularity);
  if (o.sparsity != kSearched) add("sparsity", o.sparsity);
  add("threshold", o.threshold);
  add("flops", o.flops);
  add("latency", o.latency);
  add("round", o.round);
  add("allocation", o.allocation);
  if (o.episodes) add("episodes", std::to_string(*o.episodes));
  add("scale", o.scale);
  add("norm", o.norm);
  add("schedule", o.schedule);
  if (o.every) add("every", std::to_string(*o.every));
  if (o.rewind) add("rewind", std::to_string(*o.rewind));
  add("penalty", o.penalty);
  add("dropout", o.drop);
  add("recover", fits(o));
  if (o.stages) add("stages", std::to_string(*o.stages));
  if (o.iterations) add("iterations", std::to_string(*o.iterations));
  prune::Spec spec = prune::parse_spec(text);
  for (std::string& glob : list_items(o.only)) spec.only.push_back(std::move(glob));
  for (std::string& glob : list_items(o.skip)) spec.skip.push_back(std::move(glob));
  if (!o.search.empty() && spec.allocation != prune::kAmc)
    usage_error("only --allocation amc searches", "--search", "leave it out");
  if (!o.search.empty() && spec.latency && o.curves.empty())
    usage_error("a search goes on only with the times that it began with", "--curves", "keep them: --curves F.json");
  if (o.sparsity == kSearched && spec.allocation == prune::kAmc)
    usage_error("--allocation amc searches for one budget", "--sparsity", "give --flops, --latency or a number");
  if (o.sparsity == kSearched) {
    check_search(o.verb, retraining(o).empty() && !prune::scheduled(spec));
    spec.sparsity = 0;  // until the search is done
  }
  if (o.analyse && !spec.granularity.pattern() && !spec.threshold && !spec.flops && !spec.latency)
    spec.sparsity = 0;  // of each share
  prune::check(spec);
  return spec;
}

void declare_prune(Options& options, PruneOptions& o) {
  declare_train(options, o.distill.train);
  options.add(
      "--method", o.method, "METHOD",
      "what tells which weights are needed least: " + list_of(prune::criteria()) +
          "; or dynamic (a classifier is left early by samples that an exit, which is trained on --data, is sure "
          "of: see --exit-at; with --granularity token an encoder goes on with the tokens that attention looks at the "
          "most: see --tokens-at); or a whole spec, as the report and the model's metadata keep it, but for dynamic "
          "and for how it was trained, which options say (default: magnitude)");
  options.add("--granularity", o.granularity, "WHAT",
              "what is removed as one: " + list_of(prune::granularities()) + " (default: element)");
  options.add("--sparsity", o.sparsity, "S",
              "the share that is removed, from 0 to 1 or in percent; auto: as much as the gates allow");
  options.add(
      "--threshold", o.threshold, "T",
      "instead: remove what scores less than T; of dynamic: how sure the exit must be, from 0 to 1 (default: as sure "
      "as is needed so that top1 on --val, or --data, drops by no more than --max-drop, or 1 point)");
  options.add("--exit-at", o.exit_at, "SHARE",
              "of --method dynamic: the exit lies behind about this share of the multiply-accumulates (default: 50%)");
  options.add("--tokens-at", o.tokens_at, "SHARES",
              "of --method dynamic --granularity token: tokens are left out behind about these shares of the "
              "multiply-accumulates, of those that are left as many each time (default: 25%,50%,75%)");
  options.add(
      "--flops", o.flops, "SHARE",
      "instead, where shapes become smaller: remove until this share of the multiply-accumulates stays, as in 50%");
  options.add("--latency", o.latency, "SHARE",
              "instead, likewise: until a run takes this share of the source's time on the device, as in 0.6x; several "
              "widths are timed, each for --bench seconds or a few runs");
  options.add(
      "--round", o.round, "N",
      "channels that stay are rounded up to multiples of N, or none; auto: to the multiple with which the model "
      "is fastest on the device (default: 8, where there are at least 32)");
  options.add("--allocation", o.allocation, "HOW",
              "how much of each layer goes: " + list_of(prune::allocations()) +
                  " (default: global for magnitude of weights, else uniform; channels and heads: uniform, global, "
                  "sensitivity, latency or amc)");
  options.add(
      "--curves", o.curves, "FILE",
      "of --allocation sensitivity and latency: where what was measured is kept, and taken from where it is there");
  options.add(
      "--episodes", o.episodes, "N",
      "of --allocation amc: how often the agent says what share of each group goes, and is told what came of it "
      "(by --metric on --data, or by the outputs) (default: 300)");
  options.add(
      "--search", o.search, "FILE",
      "of --allocation amc: where what was tried is kept, behind each episode; a search that was cut off goes on "
      "from there to the same end");
  options.add("--scale", o.scale, "BY",
              "what scores are divided by: " + list_of(prune::scales()) +
                  " (default: what the allocation is meant for: channel for global and lamp, else none)");
  options.add("--norm", o.norm, "NORM", "how the scores of weights that go together make one: l1 or l2 (default: l2)")
      .choices = {"l1", "l2"};
  options.add("--prune-schedule", o.schedule, "WHEN",
              "when it is removed: " + list_of(prune::schedules()) +
                  "; the latter three train, by labels unless --recover distill says otherwise (default: once; gradual "
                  "for movement)");
  options.add("--prune-every", o.every, "N",
              "of gradual: updates between two removals (default: as many as make 32 of them)");
  options.add("--rewind-to", o.rewind, "N",
              "of lottery and rate-rewind: the update behind which the training begins again in each of --iterations "
              "(default: 0)");
  options.add("--penalty", o.penalty, "HOW",
              "of --method regularization: " + list_of(prune::penalties()) +
                  " (default: l1 for weights, group-lasso for channels)");
  options.add("--drop", o.drop, "HOW", "of --method dropout: " + list_of(prune::dropouts()) + " (default: targeted)");
  options.add("--calibration-samples", o.calibration_samples, "N",
              "run the model on at most N samples, evenly spaced over the data, where the method looks at what layers "
              "are given, or at gradients (default: 128)");
  options.add("--stages", o.stages, "N",
              "look at what layers are given in at most N stages, each when those before are pruned (default: 24 for "
              "sparsegpt, else 1, which is the source)");
  options.add("--recover", o.recover, "LIST",
              "what is done for what is left: lstsq (fitted, layer by layer, to what the layers gave on --data), bn "
              "(statistics of normalizations, or where they are folded biases, corrected on --data), then train (by "
              "labels) or distill (by what the source gives), with the options of these; zeros stay");
  options.add("--temperature", o.distill.temperature, "F", "of --recover distill (default: 4)").trains = true;
  options
      .add("--alpha", o.distill.alpha, "F",
           "of --recover distill: share of the source's outputs in the loss (default: 0.9; 1 without labels)")
      .trains = true;
  options.add(
      "--iterations", o.iterations, "N",
      "remove it in N iterations, most at first, with --recover lstsq in each: better where much goes; of lottery "
      "and rate-rewind: rounds, in each of which the same share of what is left goes (default: 1)");
  options.add("--sparse", o.verb.sparse,
              "write weights without their zeros (sparse_initializer) where that takes less room: from two thirds of "
              "zeros on in float32; ONNX Runtime makes them whole again when it loads them");
  options.add("--only", o.only, "GLOBS", "prune only layers, or weights, whose names match one of these");
  options.add("--skip", o.skip, "GLOBS", "leave layers, or weights, as they are whose names match one of these");
  options.add("--explain", o.explain,
              "where shapes become smaller: say for each group what it consists of and what couples it, and what "
              "stays and why");
  options
      .add("--analyse", o.analyse,
           "write no model: prune each layer, or group, alone by 25, 50, 75 and 90 %, and report what is left of the "
           "score (--metric) or of the outputs and what it saves; --html F draws it")
      .alone = true;
  options.add("--csv", o.csv, "FILE", "with --analyse: its tables, comma-separated").writes = true;
}

}  // namespace mlopt::cli
