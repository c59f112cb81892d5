#include <fmt/core.h>

#include <algorithm>

#include "cli/bench/load.h"
#include "cli/bench/step.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

const char* name_of(PlaceInfo::Home home) {
  switch (home) {
    case PlaceInfo::Home::kArena:
      return "arena";
    case PlaceInfo::Home::kInput:
      return "input";
    case PlaceInfo::Home::kOutput:
      return "output";
    case PlaceInfo::Home::kConstant:
      return "constant";
    case PlaceInfo::Home::kOutside:
      return "outside";
  }
  return "";
}

Json place_json(const PlaceInfo& place) {
  Json json = Json::object({{"name", place.value}, {"home", name_of(place.home)}, {"offset", place.offset}});
  json["bytes"] = place.desc ? Json(place.desc->bytes()) : Json();
  json["type"] = place.desc ? Json(name(place.desc->dtype)) : Json();
  json["shape"] = place.desc ? Json(place.desc->dims) : Json();
  json["in"] = place.of.empty() ? Json() : Json(place.of);
  return json;
}

Json step_json(const PlanStepInfo& step) {
  Json json = Json::object({{"node", step.node}, {"op", step.op}});
  add_step(step, json);
  json["planned"] = step.planned;
  json["view"] = step.view;
  json["in_place"] = step.in_place;
  json["scratch_bytes"] = step.scratch_bytes;
  json["packed_bytes"] = step.packed_bytes;
  Json& outputs = json["outputs"] = Json::array();
  for (const PlaceInfo& place : step.out) outputs.push_back(place_json(place));
  return json;
}

int64_t count(const PlanInfo& plan, bool (*is)(const PlanStepInfo&)) {
  return std::count_if(plan.steps.begin(), plan.steps.end(), is);
}

bool is_view(const PlanStepInfo& step) { return step.view && !step.nodes.empty(); }
bool is_copy(const PlanStepInfo& step) { return step.nodes.empty() && !step.view; }
bool is_outside(const PlanStepInfo& step) { return !step.planned; }

Json plan_json(const PlanInfo& plan, const Loaded& loaded) {
  Json inputs = Json::array(), steps = Json::array();
  for (size_t i = 0; i < loaded.inputs[0].size(); ++i) {
    const Tensor& t = loaded.inputs[0][i].tensor();
    inputs.push_back(
        Json::object({{"name", loaded.plan->input_names()[i]}, {"type", name(t.dtype())}, {"shape", t.dims()}}));
  }
  for (const PlanStepInfo& step : plan.steps) steps.push_back(step_json(step));
  return Json::object({{"inputs", inputs},
                       {"step_count", count(plan, [](const PlanStepInfo& step) { return !step.view; })},
                       {"copies", count(plan, is_copy)},
                       {"outside", count(plan, is_outside)},
                       {"views", count(plan, is_view)},
                       {"folded_nodes", plan.folded_nodes},
                       {"arena_bytes", plan.arena_bytes},
                       {"scratch_bytes", plan.scratch_bytes},
                       {"packed_bytes", plan.packed_bytes},
                       {"constant_bytes", plan.constant_bytes},
                       {"steps", steps}});
}

std::string bytes(size_t n) { return format_bytes(static_cast<double>(n)); }

/// "4096", "4096 in place", "0 in 'y'", "output", "outside".
std::string place_words(const PlanStepInfo& step, const PlaceInfo& place) {
  std::string words = place.home == PlaceInfo::Home::kArena ? std::to_string(place.offset) : name_of(place.home);
  if (step.in_place) return words + " in place";
  return place.of.empty() ? words : fmt::format("{} in {}", words, shortened(place.of));
}

/// A row for each output, the first of which tells what the step is.
void add_rows(const PlanStepInfo& step, Table& table) {
  constexpr size_t kShape = 5, kPlace = 6, kSize = 7, kColumns = 10;
  const auto if_any = [](size_t n) { return n > 0 ? bytes(n) : ""; };
  for (size_t i = 0; i < std::max<size_t>(1, step.out.size()); ++i) {
    std::vector<std::string>& row = table.rows.emplace_back(kColumns);
    if (i == 0)
      row = {"", shortened(step.node),       operators_of(step),       step.kernel, step.layout, "", "",
             "", if_any(step.scratch_bytes), if_any(step.packed_bytes)};
    if (step.out.empty()) return;
    const PlaceInfo& place = step.out[i];
    row[kShape] = place.desc ? to_string(place.desc->dims) : "?";
    row[kPlace] = place_words(step, place);
    row[kSize] = place.desc ? bytes(place.desc->bytes()) : "";
  }
}

/// Which nodes are outside of the plan, and why.
void list_outside(const PlanInfo& plan, Report& report) {
  std::vector<std::string> unknown, others;
  for (const PlanStepInfo& step : plan.steps)
    if (is_outside(step)) (step.bytes ? others : unknown).push_back(step.nodes[0]);
  if (!unknown.empty())
    report.line("outside of the plan, shapes or bodies being known only in the run: " + join(unknown, ", "));
  if (!others.empty()) report.line("outside of the plan, no kernel plans them: " + join(others, ", "));
}

void show(const PlanInfo& plan, const std::string& title, Report& report) {
  Table& table = report.table("plan: " + title, {"#", "step", "operators", "kernel", "layout", "shape", "lies at",
                                                 "size", "scratch", "packed"});
  table.left = 7;
  int64_t number = 0;
  for (const PlanStepInfo& step : plan.steps) {
    const size_t row = table.rows.size();
    add_rows(step, table);
    table.rows[row][0] = step.view ? "" : std::to_string(++number);
  }
  report.line(
      fmt::format("steps: {} (copies to another layout: {}, outside of the plan: {}), views: {}, folded nodes: {}",
                  number, count(plan, is_copy), count(plan, is_outside), count(plan, is_view), plan.folded_nodes));
  report.line(fmt::format("arena {}, scratch {}, packed weights {}, other constants {}", bytes(plan.arena_bytes),
                          bytes(plan.scratch_bytes), bytes(plan.packed_bytes), bytes(plan.constant_bytes)));
  list_outside(plan, report);
}

}  // namespace

void show_plans(std::vector<Entry>& entries, const BenchOptions& options, Session& session) {
  Report& report = session.report;
  Json& models = report.data["models"] = Json::array();
  for (Entry& entry : entries) {
    const std::unique_ptr<Loaded> loaded = load(entry, options, session, Purpose::kPlan);
    Json json = Json::object({{"path", entry.path}, {"device", entry.device}, {"threads", entry.threads}});
    if (entry.batch > 0) json["batch"] = entry.batch;
    json["nodes"] = entry.nodes;
    json["fallback_nodes"] = entry.fallback_nodes;
    json["plan"] = entry.plan ? plan_json(*entry.plan, *loaded) : Json();
    models.push_back(std::move(json));
    const std::string title = described(entry, entries);
    if (entry.plan)
      show(*entry.plan, title, report);
    else
      report.line(fmt::format("{}: no plan, it runs node by node", title));
  }
}

}  // namespace mlopt::cli
