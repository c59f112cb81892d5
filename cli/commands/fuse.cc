#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "backends/reference/backend.h"
#include "cli/commands.h"
#include "cli/fuse/flags.h"
#include "cli/fuse/judge.h"
#include "cli/fuse/side_by_side.h"
#include "cli/output.h"
#include "cli/runner.h"
#include "cli/targets.h"
#include "cli/targets/runtimes.h"
#include "cli/verb/origin.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/tools.h"
#include "graphopt/passes.h"
#include "graphopt/pipelines.h"

namespace mlopt::cli {
namespace {

using Tallies = std::map<std::string, PassTally>;

void list_passes(Report& report) {
  Table& table = report.table("", {"pass", "what it does", "-O"});
  table.left = 2;
  Json& list = report.data["passes"] = Json::array();
  for (const Pass* pass : graphopt::all_passes()) {
    const int level = graphopt::level_of(*pass);
    table.rows.push_back({std::string(pass->name), std::string(pass->doc), std::to_string(level)});
    list.push_back(Json::object({{"name", pass->name}, {"doc", pass->doc}, {"level", level}}));
  }
}

bool is_for_one_runtime(const FuseFlags& o) { return !o.target.empty() && o.target != "onnx"; }

std::string spec_of(const FuseFlags& o) {
  std::vector<std::string> parts;
  const auto add = [&](const char* name, const std::vector<std::string>& lists) {
    if (!lists.empty()) parts.push_back(fmt::format("{}={}", name, join(list_items(lists), ",")));
  };
  add("passes", o.passes);
  add("no-passes", o.no_passes);
  add("only", o.only);
  add("skip", o.skip);
  if (!o.fold_limit.empty()) parts.push_back("fold-limit=" + o.fold_limit);
  if (is_for_one_runtime(o)) parts.push_back("target=" + o.target);
  if (o.level) parts.push_back(fmt::format("level={}", *o.level));
  if (o.opset) parts.push_back(fmt::format("opset={}", *o.opset));
  add("fix", o.fixed);
  add("dynamic", o.dynamic);
  if (!o.part.empty()) parts.push_back("extract=" + o.part);
  if (o.low_rank) parts.push_back(fmt::format("low-rank={}%", o.low_rank->value));
  if (!o.store.empty()) parts.push_back("store=" + o.store);
  if (o.batch) parts.push_back(fmt::format("batch={}", *o.batch));
  return parts.empty() ? "fuse" : "fuse:" + join(parts, ";");
}

int64_t fold_bytes(const FuseFlags& o, const Model& source) {
  // What the same command made has grown by as much as it may.
  if (o.fold_limit.empty()) return recorded(source, "mlopt.spec") == spec_of(o) ? 0 : usual_fold_bytes(source);
  const auto bytes = parse_bytes(o.fold_limit);
  if (!bytes) usage_error(fmt::format("'{}' is not a size", o.fold_limit), "--fold-limit", "for instance 1M");
  return *bytes;
}

Target target_of(const std::string& name) {
  if (name.empty()) return Target::kOnnx;
  constexpr std::pair<std::string_view, Target> kTargets[] = {
      {"onnx", Target::kOnnx}, {"ort", Target::kOrt}, {"openvino", Target::kOpenvino}, {"tensorrt", Target::kTensorrt}};
  std::vector<std::string> names;
  for (const auto& [known, target] : kTargets) {
    if (name == known) return target;
    names.emplace_back(known);
  }
  usage_error(fmt::format("no target is called '{}'", name), "--target", "one of " + join(names, ", "));
}

/// What is written for any runtime has to run in ONNX Runtime at least.
std::string (*objection_of(Target target))(const NodeView&) {
  if (target == Target::kOpenvino) return openvino_objection;
  return target == Target::kTensorrt ? tensorrt_objection : ort_objection;
}

PassContext context_of(const FuseFlags& o, const Model& source, Backend& judge) {
  PassContext context = judged_by(judge);
  context.only = list_items(o.only);
  context.skip = list_items(o.skip);
  context.fold_bytes = fold_bytes(o, source);
  context.target = target_of(o.target);
  context.objection = objection_of(context.target);
  return context;
}

/// The passes of -O, all where a runtime or passes are named.
graphopt::PassSelection selection_of(const FuseFlags& o) {
  constexpr int kUsual = 2;
  if (o.level && (*o.level < 0 || *o.level > graphopt::kLevels))
    usage_error(fmt::format("there is no level {}", *o.level), "-O", fmt::format("0 to {}", graphopt::kLevels));
  const bool all = is_for_one_runtime(o) || !o.passes.empty();
  return {list_items(o.passes), list_items(o.no_passes), o.level.value_or(all ? graphopt::kLevels : kUsual)};
}

/// What each pass did, in the order in which they run.
Json show_changes(const Tallies& tallies, Report& report) {
  Table table{"", {"pass", "rewrites"}, {}, 1};
  Json changes = Json::object();
  for (const Pass* pass : graphopt::all_passes()) {
    const auto tally = tallies.find(std::string(pass->name));
    if (tally == tallies.end() || tally->second.applied == 0) continue;
    table.rows.push_back({tally->first, std::to_string(tally->second.applied)});
    changes[tally->first] = tally->second.applied;
  }
  if (table.rows.empty())
    report.line("nothing to rewrite");
  else
    report.blocks.emplace_back(std::move(table));
  return changes;
}

/// What the passes declined, why, how often, and one node of which it was said.
Json show_declined(const Tallies& tallies, bool in_text, Report& report) {
  Table table{"", {"pass", "declined because", "for example", "times"}, {}, 3};
  Json declined = Json::array();
  for (const Pass* pass : graphopt::all_passes()) {
    const auto tally = tallies.find(std::string(pass->name));
    if (tally == tallies.end()) continue;
    for (const auto& [reason, times] : tally->second.declined) {
      const std::string& example = tally->second.example.at(reason);
      table.rows.push_back({tally->first, reason, example, std::to_string(times)});
      declined.push_back(
          Json::object({{"pass", tally->first}, {"reason", reason}, {"example", example}, {"times", times}}));
    }
  }
  if (in_text && !table.rows.empty()) report.blocks.emplace_back(std::move(table));
  return declined;
}

Tallies run_passes_on(const FuseFlags& o, const Model& source, const PassContext& context, const graphopt::Guard& guard,
                      Model& model) {
  model = o.opset && *o.opset != source.opset() ? convert_opset(source, *o.opset) : clone(source);
  graphopt::PassSelection selection = selection_of(o);
  selection.guard = guard;
  return graphopt::fuse(model, context, selection);
}

/// --paranoid looks at each pass, --bisect only where the whole comes out wrong.
Tallies fused(const FuseFlags& o, const Model& source, const PassContext& context, VerbResult& result,
              Session& session) {
  if (!o.paranoid && !o.bisect) return run_passes_on(o, source, context, {}, result.model);
  PassJudge judge(o.verb.data, source, *context.judge, session);
  const graphopt::Guard guard = [&](const Pass& pass, const Model& before, const Model* after,
                                    const PassContext& limited) { return judge.holds(pass, before, after, limited); };
  Tallies tallies = run_passes_on(o, source, context, o.paranoid ? guard : graphopt::Guard(), result.model);
  if (!o.paranoid && !judge.objection(result.model).empty())
    tallies = run_passes_on(o, source, context, guard, result.model);
  judge.report_on(session.report, result);
  return tallies;
}

/// The source may have had what the target cannot run.
void doubt_target(const FuseFlags& o, VerbResult& result, const Session& session) {
  const std::string doubts = o.target.empty() ? "" : doubts_of(o.target, result.model);
  if (doubts.empty()) return;
  session.console.warn(doubts);
  result.not_verified.push_back(doubts);
}

void run(const FuseFlags& o, Session& session) {
  if (o.list_passes) return list_passes(session.report);
  if (o.low_rank && (o.low_rank->value <= 0 || o.low_rank->value > 100))
    usage_error("the share of energy is above 0 % and at most 100 %", "--low-rank");
  selection_of(o);  // sees that there is such a level
  if (o.verb.no_bench && o.verb.bench) usage_error("--no-bench and --bench exclude each other");
  if (o.html == "-") session.claim_stdout("--html -");
  const std::unique_ptr<Backend> judge = reference_backend();
  Model source = begin_verb(o.verb, session);
  change_source(o, source);
  std::vector<std::string> not_verified = free_axes(o, source, *judge, session);
  const PassContext context = context_of(o, source, *judge);
  check_node_names(context.only, "--only", source, session);
  check_node_names(context.skip, "--skip", source, session);
  VerbResult result;
  result.spec = spec_of(o);
  result.not_verified = std::move(not_verified);
  const Tallies tallies = fused(o, source, context, result, session);
  result.changes = show_changes(tallies, session.report);
  result.declined = show_declined(tallies, o.explain, session.report);
  if (const std::string equal = likely_equal(source); !equal.empty())
    session.report.line(fmt::format("if these sizes are always equal, say so, and more may be fused: --fix {}", equal));
  change_weights(o, context, result, session.report);
  doubt_target(o, result, session);
  std::vector<Beside> rows;
  if (o.diff || !o.html.empty()) rows = beside(node_lines(*source.graph), node_lines(*result.model.graph));
  if (o.diff) add_table(rows, session.report);
  if (!o.part.empty()) session.report.line(fmt::format("the source is the part {} of {}", o.part, o.verb.model));
  finish_verb(o.verb, source, std::move(result), session);
  if (!o.part.empty()) session.report.data["source"]["part"] = o.part;
  if (!o.html.empty()) write_text(o.html, page_with_graphs(session.report, rows));
}

Action setup(Options& options) {
  const auto o = std::make_shared<FuseFlags>();
  declare_verb(options, o->verb);
  options.add("-O,--level", o->level, "N",
              "0: no pass; 1: those that keep the numbers but for the order of sums; 2: also those that round "
              "otherwise; 3: also what only the target runs (default: 2, or 3 with --target or --passes)");
  options.add("--passes", o->passes, "LIST", "run only these passes: names, of other optimizers too, or globs");
  options.add("--no-passes", o->no_passes, "LIST", "do not run these passes");
  options.add("--only", o->only, "LIST", "rewrite only nodes whose names match one of these globs");
  options.add("--skip", o->skip, "LIST", "leave nodes alone whose names match one of these globs");
  options.add("--target", o->target, "TARGET",
              "onnx: standard operators of the model's opset; ort: also com.microsoft's, which ONNX "
              "Runtime runs; openvino, tensorrt: standard ones that they run (default: onnx)");
  options.add("--opset", o->opset, "N", "raise the opset of ai.onnx first, for the operators that it has");
  options.add(
      "--fix", o->fixed, "NAME=N",
      "give the free dimension of this name a size for good, or the name of another that it always equals; more "
      "may be folded then");
  options.add("--batch", o->batch, "N", "the same for the first dimension of every input that has it free");
  options.add("--dynamic", o->dynamic, "INPUT=AXIS",
              "free this axis of an input; refused where constants of the model hold it to its size");
  options.add("--extract", o->part, "IN..OUT",
              "first cut out what leads from the values IN to the values OUT (a,b..c; nothing: the model's own), which "
              "is then the source");
  options.add("--low-rank", o->low_rank, "P%",
              "write products by constant matrices as two thinner ones that keep P% of the energy, where that is less "
              "work");
  options.add("--store", o->store, "TYPE", "store float32 weights as fp16 or bf16 behind a Cast").choices = {"fp16",
                                                                                                             "bf16"};
  options.add(
      "--paranoid", o->paranoid,
      "compare with the source after every pass, at two sizes of free dimensions; undo and name those that break "
      "it");
  options.add("--bisect", o->bisect, "the same, but only once the result differs from the source");
  options.add("--fold-limit", o->fold_limit, "SIZE",
              "bytes that folded constants may add to the file (default: a hundredth of it, at least 4K)");
  options.add("--explain", o->explain, "say what was declined, why and how often");
  options.add("--diff", o->diff, "show both graphs side by side: | rewritten, < gone, > new");
  options.add("--html", o->html, "FILE", "write the report with both graphs as one page").writes = true;
  options.add("--list-passes", o->list_passes, "list the passes in the order in which they run").alone = true;
  return [o](Session& session) { run(*o, session); };
}

}  // namespace

Command fuse_command() {
  return {.name = "fuse",
          .arguments = "MODEL -o OUT",
          .summary = "optimize the graph: fuse, fold and remove operators",
          .examples = {{{"fuse model.onnx -o fused.onnx", "run every pass until nothing changes"},
                        {"fuse model.onnx -o fused.onnx --no-passes 'fuse_*' --explain",
                         "leave some passes out, and say what was declined and why"}}},
          .setup = setup,
          .alias = "optimize"};
}

}  // namespace mlopt::cli
