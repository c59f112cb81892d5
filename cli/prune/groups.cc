#include "cli/prune/groups.h"

#include <fmt/core.h>

#include "core/base/text.h"

namespace mlopt::cli {
namespace {

constexpr size_t kGroupsShown = 40;

Json strings(const std::vector<std::string>& list) {
  Json json = Json::array();
  for (const std::string& text : list) json.push_back(text);
  return json;
}

Json group_json(const prune::PrunedGroup& g) {
  return Json::object({{"layers", strings(g.layers)},
                       {"members", strings(g.members)},
                       {"coupled_by", strings(g.coupled_by)},
                       {"unit", g.unit},
                       {"channels", g.channels},
                       {"kept", g.kept}});
}

std::string change(int64_t before, int64_t after) {
  return fmt::format("{} -> {} ({:.1f} % stay)", before, after,
                     100.0 * static_cast<double>(after) / static_cast<double>(before));
}

void explain_group(size_t number, const prune::PrunedGroup& g, Report& report) {
  report.line(
      fmt::format("group {}: {} of {} {} stay, made by {}", number, g.kept, g.channels, g.unit, join(g.layers, ", ")));
  report.line("  cut: " + join(g.members, "; "));
  if (!g.coupled_by.empty()) report.line("  coupled by: " + join(g.coupled_by, ", "));
}

}  // namespace

std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kNamesShown = 2;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kNamesShown, names.size())));
  const size_t more = names.size() - first.size();
  return join(first, ", ") + (more ? fmt::format(" and {} more", more) : "");
}

Json report_channels(const prune::Pruned& made, Report& report) {
  int64_t channels = 0, kept = 0;
  for (const prune::PrunedGroup& g : made.groups) channels += g.channels, kept += g.kept;
  const std::string unit = made.groups.empty() ? "channels" : made.groups.front().unit;
  const std::string where = unit == "blocks" ? "" : fmt::format(" in {} groups", made.groups.size());
  report.line(fmt::format("{} of {} {}{} removed", channels - kept, channels, unit, where));
  if (made.macs_before) report.line("multiply-accumulates: " + change(made.macs_before, made.macs_after));
  Json changes = Json::object({{"groups", made.groups.size()},
                               {"channels", channels},
                               {"kept", kept},
                               {"macs_before", made.macs_before},
                               {"macs_after", made.macs_after}});
  if (made.proof) {
    changes["proof_max_abs"] = made.proof->max_abs;
    report.line(
        fmt::format("proven: differs by {:.2g} from the source whose removed {} are zero (outputs up to {:.3g})",
                    made.proof->max_abs, unit, made.proof->max_expected));
  }
  return changes;
}

void report_groups(const prune::Pruned& made, bool explain, Report& report) {
  Json& all = report.data["groups"] = Json::array();
  const std::string unit = made.groups.empty() ? "channels" : made.groups.front().unit;
  Table table{unit + " by group", {"made by", unit, "kept", unit == "blocks" ? "weights" : "constants cut"}, {}, 1};
  for (const prune::PrunedGroup& g : made.groups) {
    all.push_back(group_json(g));
    if (table.rows.size() < kGroupsShown)
      table.rows.push_back(
          {some_of(g.layers), std::to_string(g.channels), std::to_string(g.kept), std::to_string(g.members.size())});
  }
  if (!explain) {
    report.blocks.emplace_back(std::move(table));
    if (made.groups.size() > kGroupsShown)
      report.line(fmt::format("and {} more groups, which --json has", made.groups.size() - kGroupsShown));
    return;
  }
  for (size_t i = 0; i < made.groups.size(); ++i) explain_group(i + 1, made.groups[i], report);
  for (const auto& [layer, reason] : made.left) report.line(fmt::format("{}: {}", layer, reason));
}

void report_tried(const prune::Pruned& made, Report& report) {
  if (made.tried.empty()) return;
  Json& all = report.data["widths_tried"] = Json::array();
  Table table{"widths that were timed", {"removed", "rounded to", "multiply-accumulates", "time of a run"}, {}};
  for (const prune::TriedWidths& t : made.tried) {
    all.push_back(
        Json::object({{"share", t.share}, {"multiple", t.multiple}, {"macs_stay", t.macs}, {"time", t.time}}));
    table.rows.push_back({fmt::format("{:.2f} %", 100 * t.share), std::to_string(t.multiple),
                          fmt::format("{:.1f} %", 100 * t.macs), fmt::format("{:.3f}x", t.time)});
  }
  report.blocks.emplace_back(std::move(table));
}

}  // namespace mlopt::cli
