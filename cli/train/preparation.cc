#include "cli/train/preparation.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>

#include "backends/reference/backend.h"
#include "cli/runner.h"
#include "cli/verb/verb.h"
#include "core/base/text.h"
#include "core/rewrite/inline_if.h"
#include "core/rewrite/lower/passes.h"
#include "graphopt/passes.h"
#include "graphopt/pipelines.h"
#include "quantize/split_embeddings.h"

namespace mlopt::cli {
namespace {

int64_t memory_of(Executable& plan, std::span<const Datum> inputs) {
  const auto info = plan.plan_info(inputs);
  return info ? static_cast<int64_t>(info->arena_bytes + info->scratch_bytes) : 0;
}

/// Of what is trained, and of its gradients.
int64_t state_bytes(const train::TrainingGraphs& graphs) {
  int64_t bytes = 0;
  for (const std::vector<std::string>* names : {&graphs.parameters, &graphs.gradient_states})
    for (const std::string& name : *names) bytes += static_cast<int64_t>(graphs.state->at(name).bytes());
  return bytes;
}

std::string in_words(int64_t bytes) { return bytes == 0 ? "" : format_bytes(static_cast<double>(bytes)); }

std::string share(int64_t after, int64_t before) {
  return before == 0 || after == 0
             ? ""
             : fmt::format("{:.1f} %", 100 * static_cast<double>(after) / static_cast<double>(before));
}

Json side_json(int64_t nodes, int64_t bytes, const SideBySide& time, const Latency& latency) {
  return Json::object({{"nodes", nodes},
                       {"memory_bytes", bytes == 0 ? Json() : Json(bytes)},
                       {"ms", time.left_out.empty() ? Json(latency.p50) : Json()}});
}

bool gives_integers(const Node& node) {
  return std::ranges::all_of(node.outputs(), [](const Value* v) {
    return !v || v->type.dtype == DType::kI64 || v->type.dtype == DType::kI32 || v->type.dtype == DType::kBool;
  });
}

/// Floats that say what an operator does, and those that become integers or flags: no gradient goes there.
bool is_setting(const Use& use) {
  const Node& node = *use.node;
  if (node.is("Clip") || node.is("Resize")) return use.index > 0;
  if (node.is("Pad") || node.is("Upsample")) return use.index == (node.is("Pad") ? 2 : 1);
  return gives_integers(node);
}

/// Of constants only what settings alone are made of: others may be trained.
void fold_settings_of(Model& model, const PassContext& context, PassTally& tally) {
  std::unordered_set<const Node*> makers;
  std::set<std::string> folded;
  std::vector<Node*> nodes = all_nodes(*model.graph);
  std::reverse(nodes.begin(), nodes.end());
  for (const Node* node : nodes) {
    const bool makes = std::ranges::all_of(node->outputs(), [&](const Value* v) {
      const auto goes_on = [&](const Use& use) { return is_setting(use) || makers.contains(use.node); };
      return !v || (!v->is_output() && std::ranges::all_of(v->uses, goes_on));
    });
    if (!makes) continue;
    makers.insert(node);
    if (!gives_integers(*node)) folded.insert(node->called());
  }
  PassContext of_settings = context;
  of_settings.among = &folded;
  if (!folded.empty()) graphopt::fold_constants.run(model, of_settings, tally);
}

constexpr Pass kFoldSettings = {"fold_settings", "compute settings that depend on constants only", nullptr,
                                fold_settings_of};

}  // namespace

void settle_shapes(Model& model) {
  const std::unique_ptr<Backend> judge = reference_backend();
  static constexpr std::array kPasses{
      &graphopt::fold_shapes,           &graphopt::fold_integers,    &kFoldSettings,         &inline_if,
      &graphopt::split_fused_operators, &quantize::split_embeddings, &lower::attention_bias, &lower::group_query,
      &lower::attention_heads,          &lower::contrib_gelu};
  PassContext context = judged_by(*judge);
  context.keep_outputs = false;  // a branch says more of their shapes than the If did
  run_passes(model, kPasses, context);
}

void prepare_gradients(train::TrainingGraphs& graphs, const train::Recipe& recipe) {
  const std::unique_ptr<Backend> judge = reference_backend();
  graphopt::PassSelection selection;
  if (recipe.recompute.on) selection.no_passes.emplace_back("eliminate_common_subexpressions");
  // Of products of which one reads the other's result, backends that widen half floats would not round what is between.
  if (recipe.precision.on()) selection.no_passes.emplace_back("merge_casts");
  graphopt::fuse(graphs.gradients, judged_by(*judge), selection);
}

Preparation measure_preparation(const Model& before, const train::TrainingGraphs& graphs, std::span<const Datum> inputs,
                                Backend& backend, CompileOptions options, double seconds, double run_seconds) {
  Preparation p;
  p.nodes_before = static_cast<int64_t>(before.graph->node_count());
  p.nodes_after = static_cast<int64_t>(graphs.gradients.graph->node_count());
  options.state = std::make_shared<StateStore>(*graphs.state);
  options.updates = graphs.gradient_updates;
  const std::unique_ptr<Executable> first = backend.compile(before, options),
                                    second = backend.compile(graphs.gradients, options);
  p.bytes_before = memory_of(*first, inputs);
  p.bytes_after = memory_of(*second, inputs);
  p.time.left_out = lack_of_memory(state_bytes(graphs) + p.bytes_before + p.bytes_after, "both graphs");
  constexpr double kFewestRuns = 8;  // of both together: fewer say nothing
  if (p.time.left_out.empty() && kFewestRuns * run_seconds > seconds)
    p.time.left_out = fmt::format("a portion takes {:.2g} s, too long for a measurement of {:.2g} s (--bench S)",
                                  run_seconds, seconds);
  if (p.time.left_out.empty()) p.time = measure_side_by_side(*first, inputs, *second, inputs, seconds, options.seed);
  return p;
}

void report_preparation(const Preparation& p, Report& report) {
  const bool timed = p.time.left_out.empty();
  const auto ms = [&](const Latency& latency) { return timed ? fmt::format("{:.4g} ms", latency.p50) : ""; };
  Table& table = report.table("", {"gradients of a portion", "as they stand", "prepared", "change"});
  table.rows = {
      {"nodes", std::to_string(p.nodes_before), std::to_string(p.nodes_after), share(p.nodes_after, p.nodes_before)},
      {"memory", in_words(p.bytes_before), in_words(p.bytes_after), share(p.bytes_after, p.bytes_before)},
      {"time", ms(p.time.source), ms(p.time.result), timed ? mlopt::in_words(p.time.ratio) : "not measured"}};
  if (!timed) report.line("not measured: " + p.time.left_out);
  Json json = Json::object({{"as_they_stand", side_json(p.nodes_before, p.bytes_before, p.time, p.time.source)},
                            {"prepared", side_json(p.nodes_after, p.bytes_after, p.time, p.time.result)}});
  if (timed)
    json["speedup"] =
        Json::object({{"median", p.time.ratio.median}, {"low", p.time.ratio.low}, {"high", p.time.ratio.high}});
  else
    json["left_out"] = p.time.left_out;
  report.data["preparation"] = std::move(json);
}

}  // namespace mlopt::cli
