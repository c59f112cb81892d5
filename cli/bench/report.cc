#include <fmt/core.h>

#include <algorithm>

#include "cli/backends.h"
#include "cli/bench/bench.h"
#include "cli/bench/step.h"
#include "cli/comparison.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

constexpr double kMb = 1 << 20;

bool varies(const std::vector<Entry>& entries, auto member) {
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& e) { return e.*member != entries[0].*member; });
}

std::string ms(double value) { return value < 0.1 ? fmt::format("{:.4f}", value) : fmt::format("{:.3f}", value); }

Json latency_json(const Latency& latency) {
  return Json::object(
      {{"min", latency.min}, {"mean", latency.mean}, {"p50", latency.p50}, {"p90", latency.p90}, {"p99", latency.p99}});
}

void table(const std::vector<Entry>& entries, Report& report) {
  const bool devices = varies(entries, &Entry::device), batches = varies(entries, &Entry::batch),
             threads = varies(entries, &Entry::threads);
  std::vector<std::string> columns = {"model"};
  if (devices) columns.emplace_back("device");
  if (batches) columns.emplace_back("batch");
  if (threads) columns.emplace_back("threads");
  for (const char* name : {"p50 ms", "p90 ms", "p99 ms", "mean ms", "per second", "peak MB", "load ms", "compile ms"}) {
    columns.emplace_back(name);
  }
  Table& rows = report.table("", columns);
  for (const Entry& e : entries) {
    std::vector<std::string> row = {e.path};
    if (devices) row.push_back(e.device);
    if (batches) row.push_back(std::to_string(e.batch));
    if (threads) row.push_back(std::to_string(e.threads));
    for (const double value : {e.latency.p50, e.latency.p90, e.latency.p99, e.latency.mean}) row.push_back(ms(value));
    row.push_back(fmt::format("{:.1f}", e.throughput));
    row.push_back(e.peak_memory ? fmt::format("{:.1f}", static_cast<double>(*e.peak_memory) / kMb) : "");
    row.push_back(e.load_ms ? fmt::format("{:.1f}", *e.load_ms) : "");
    row.push_back(fmt::format("{:.1f}", e.compile_ms));
    rows.rows.push_back(std::move(row));
  }
}

}  // namespace

std::string described(const Entry& entry, const std::vector<Entry>& all) {
  std::string text = entry.path;
  if (varies(all, &Entry::device)) text += " on " + entry.device;
  if (varies(all, &Entry::batch)) text += fmt::format(", batch {}", entry.batch);
  if (varies(all, &Entry::threads)) text += fmt::format(", {} threads", entry.threads);
  return text;
}

Json to_json(const Entry& entry) {
  Json json = Json::object({{"path", entry.path}, {"device", entry.device}, {"threads", entry.threads}});
  if (entry.batch > 0) json["batch"] = entry.batch;
  json["latency_ms"] = latency_json(entry.latency);
  json["throughput_per_s"] = entry.throughput;
  json["runs"] = entry.latency.runs;
  if (entry.joules) json["joules_per_run"] = *entry.joules;
  json["blocks"] = entry.blocks.size();
  json["load_ms"] = or_null(entry.load_ms);
  json["compile_ms"] = entry.compile_ms;
  json["first_run_ms"] = or_null(entry.first_run_ms);
  json["peak_memory_bytes"] = or_null(entry.peak_memory);
  json["size_bytes"] = entry.size_bytes;
  json["nodes"] = entry.nodes;
  json["fallback_nodes"] = entry.fallback_nodes;
  if (!entry.copies.empty()) json["fallback_copies"] = to_json(entry.copies);
  json["precision"] = entry.precision;
  if (entry.from_fp32) json["from_fp32"] = to_json(*entry.from_fp32);
  if (!entry.profile.empty()) json["profile"] = profile_json(entry);
  return json;
}

Json to_json(const Comparison& comparison, const std::vector<Entry>& entries) {
  const Entry &entry = entries[comparison.entry], &to = entries[comparison.to];
  const Ratio& ratio = comparison.ratio;
  return Json::object({{"model", entry.path},
                       {"to", to.path},
                       {"device", entry.device},
                       {"to_device", to.device},
                       {"threads", entry.threads},
                       {"batch", entry.batch},
                       {"median", ratio.median},
                       {"low", ratio.low},
                       {"high", ratio.high},
                       {"blocks", ratio.blocks},
                       {"words", in_words(ratio)}});
}

void report_entries(const std::vector<Entry>& entries, const std::vector<Comparison>& comparisons, bool verbose,
                    Report& report) {
  table(entries, report);
  Json& models = report.data["models"] = Json::array();
  for (const Entry& entry : entries) models.push_back(to_json(entry));
  Json& ratios = report.data["ratios"] = Json::array();
  for (const Comparison& c : comparisons) {
    const Entry &entry = entries[c.entry], &to = entries[c.to];
    report.line(fmt::format("{} against {}: {}", described(entry, entries), described(to, entries), in_words(c.ratio)));
    ratios.push_back(to_json(c, entries));
  }
  for (const Entry& entry : entries) {
    if (!entry.fallback_nodes.empty()) {
      report.line(fmt::format("{}: {} of {} nodes run on the {}", described(entry, entries),
                              entry.fallback_nodes.size(), entry.nodes,
                              gpu_index(entry.device) ? "processor" : "reference backend"));
    }
    show_copies(entry.copies, described(entry, entries), verbose, report);
    if (entry.joules)
      report.line(fmt::format("{}: {:.3g} J of the GPU a run", described(entry, entries), *entry.joules));
    if (entry.from_fp32)
      report.line(fmt::format("{} in {}: {} from fp32", described(entry, entries), entry.precision,
                              in_words(*entry.from_fp32)));
    if (!entry.profile.empty()) profile_tables(entry, described(entry, entries), verbose, report);
  }
}

}  // namespace mlopt::cli
