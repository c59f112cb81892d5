#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "backends/reference/backend.h"
#include "cli/commands.h"
#include "cli/runner.h"
#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ir/bind.h"
#include "core/onnx/infer.h"
#include "core/onnx/tools.h"
#include "graphopt/passes.h"
#include "graphopt/pipelines.h"

namespace mlopt::cli {
namespace {

struct FuseFlags {
  VerbOptions verb;
  std::string fold_limit, target = "onnx";
  std::optional<int64_t> opset, batch;
  std::vector<std::string> fixed;
  std::vector<std::string> passes, no_passes, only, skip;
  bool list_passes = false, explain = false;
};
using Tallies = std::map<std::string, PassTally>;

void list_passes(Report& report) {
  Table& table = report.table("", {"pass", "what it does"});
  table.left = 2;
  Json& list = report.data["passes"] = Json::array();
  for (const Pass* pass : graphopt::all_passes()) {
    table.rows.push_back({std::string(pass->name), std::string(pass->doc)});
    list.push_back(Json::object({{"name", pass->name}, {"doc", pass->doc}}));
  }
}

int64_t fold_bytes(const FuseFlags& o, const Model& source) {
  if (o.fold_limit.empty()) return usual_fold_bytes(source);
  const auto bytes = parse_bytes(o.fold_limit);
  if (!bytes) usage_error(fmt::format("'{}' is not a size", o.fold_limit), "--fold-limit", "for instance 1M");
  return *bytes;
}

Target target_of(const std::string& name) {
  constexpr std::pair<std::string_view, Target> kTargets[] = {{"onnx", Target::kOnnx}, {"ort", Target::kOrt}};
  std::vector<std::string> names;
  for (const auto& [known, target] : kTargets) {
    if (name == known) return target;
    names.emplace_back(known);
  }
  usage_error(fmt::format("no target is called '{}'", name), "--target", "one of " + join(names, ", "));
}

PassContext context_of(const FuseFlags& o, const Model& source, Backend& judge) {
  PassContext context = judged_by(judge);
  context.only = list_items(o.only);
  context.skip = list_items(o.skip);
  context.fold_bytes = fold_bytes(o, source);
  context.target = target_of(o.target);
  return context;
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
  if (o.target != "onnx") parts.push_back("target=" + o.target);
  if (o.opset) parts.push_back(fmt::format("opset={}", *o.opset));
  add("fix", o.fixed);
  if (o.batch) parts.push_back(fmt::format("batch={}", *o.batch));
  return parts.empty() ? "fuse" : "fuse:" + join(parts, ";");
}

/// --fix and --batch: the source with these sizes is what the result is compared with.
void fix_sizes(const FuseFlags& o, Model& source) {
  std::map<std::string, int64_t> sizes;
  for (const std::string& item : list_items(o.fixed)) {
    const size_t at = item.find('=');
    const auto size = at == std::string::npos ? std::nullopt : parse_int(item.substr(at + 1));
    if (at == 0 || !size || *size < 1)
      usage_error(fmt::format("'{}' is not NAME=SIZE", item), "--fix", "as in seq=128");
    sizes[item.substr(0, at)] = *size;
  }
  if (o.batch && *o.batch < 1) usage_error("a batch has at least one sample", "--batch");
  if (!sizes.empty() || o.batch) fix_dimensions(source, sizes, o.batch.value_or(0), standard_types);
}

void run(const FuseFlags& o, Session& session) {
  if (o.list_passes) return list_passes(session.report);
  const std::unique_ptr<Backend> judge = reference_backend();
  Model source = begin_verb(o.verb, session);
  fix_sizes(o, source);
  const PassContext context = context_of(o, source, *judge);
  check_node_names(context.only, "--only", source, session);
  check_node_names(context.skip, "--skip", source, session);
  VerbResult result;
  result.spec = spec_of(o);
  result.model = o.opset && *o.opset != source.opset() ? convert_opset(source, *o.opset) : clone(source);
  const Tallies tallies = graphopt::fuse(result.model, context, {list_items(o.passes), list_items(o.no_passes)});
  result.changes = show_changes(tallies, session.report);
  result.declined = show_declined(tallies, o.explain, session.report);
  finish_verb(o.verb, source, std::move(result), session);
}

Action setup(Options& options) {
  const auto o = std::make_shared<FuseFlags>();
  declare_verb(options, o->verb);
  options.add("--passes", o->passes, "LIST", "run only these passes: names, of other optimizers too, or globs");
  options.add("--no-passes", o->no_passes, "LIST", "do not run these passes");
  options.add("--only", o->only, "LIST", "rewrite only nodes whose names match one of these globs");
  options.add("--skip", o->skip, "LIST", "leave nodes alone whose names match one of these globs");
  options.add("--target", o->target, "TARGET",
              "onnx: standard operators of the model's opset; ort: also com.microsoft's, which ONNX "
              "Runtime runs (default: onnx)");
  options.add("--opset", o->opset, "N", "raise the opset of ai.onnx first, for the operators that it has");
  options.add("--fix", o->fixed, "NAME=N",
              "give the free dimension of this name a size for good; more may be folded then");
  options.add("--batch", o->batch, "N", "the same for the first dimension of every input that has it free");
  options.add("--fold-limit", o->fold_limit, "SIZE",
              "bytes that folded constants may add to the file (default: a hundredth of it)");
  options.add("--explain", o->explain, "say what was declined, why and how often");
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
