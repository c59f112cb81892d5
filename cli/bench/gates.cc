#include <fmt/core.h>

#include <algorithm>

#include "cli/bench/bench.h"
#include "cli/environment.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

constexpr size_t kFewBlocks = 4;

/// The entries that limits are for: all but the first of several models, else the only one.
std::vector<const Entry*> judged(const std::vector<Entry>& entries, const BenchOptions& options) {
  std::vector<const Entry*> chosen;
  for (const Entry& entry : entries) {
    if (options.models.size() == 1 || entry.model > 0) chosen.push_back(&entry);
  }
  return chosen;
}

/// The 95 % interval of p50, by blocks or, where there are few of them, by runs.
Estimate p50_interval(const Entry& entry, uint64_t seed) {
  std::vector<double> ms;
  for (const Block& block : entry.blocks) ms.push_back(1e3 * median(block.seconds));
  if (entry.blocks.size() < kFewBlocks) {
    ms = all_runs(entry.blocks);
    for (double& run : ms) run *= 1e3;
  }
  return bootstrap_median(ms, seed);
}

Gate latency_gate(const Entry& entry, double limit, uint64_t seed) {
  const Estimate interval = p50_interval(entry, seed);
  return interval_gate(
      "max-latency", limit, entry.latency.p50, interval.low, interval.high,
      fmt::format("{}: p50 is {:.4g} ms, the limit is {:.4g} ms", entry.path, entry.latency.p50, limit));
}

void bytes_gate(const std::string& name, const Entry& entry, std::optional<int64_t> value, int64_t limit,
                Report& report) {
  const std::string shown = value ? format_bytes(static_cast<double>(*value)) : "unknown";
  const std::string words =
      fmt::format("{}: {} is {}, the limit is {}", entry.path, name == "max-size" ? "the size" : "peak memory", shown,
                  format_bytes(static_cast<double>(limit)));
  report.gates.push_back({name, limit, value ? Json(*value) : Json(), value && *value <= limit, words});
}

/// The whole number under a key, or 0.
int64_t whole(const Json& json, const char* key) {
  const Json* found = json.find(key);
  return found && found->is_integer() ? found->integer() : 0;
}

/// What an earlier report says of the same model, device, batch and thread count, or null.
const Json* find_model(const Json& report, const Entry& entry) {
  const Json* models = report.find("models");
  if (!models) return nullptr;
  for (const Json& model : models->items()) {
    const Json *path = model.find("path"), *device = model.find("device");
    if (path && device && path->is_string() && device->is_string() && path->string() == entry.path &&
        device->string() == entry.device && whole(model, "batch") == entry.batch &&
        whole(model, "threads") == entry.threads) {
      return &model;
    }
  }
  return nullptr;
}

/// What a report was made with, but for how long was measured and what find_model() compares.
std::vector<std::string> settings(const Json& report) {
  const Json* spec = report.find("spec");
  if (!spec || !spec->is_string()) return {};
  std::vector<std::string> parts = split(spec->string(), ';');
  std::erase_if(parts, [](const std::string& part) {
    const auto begins = [&](const char* key) { return part.starts_with(key); };
    return begins("devices=") || begins("threads=") || begins("duration=") || begins("runs=") || begins("warmup=");
  });
  return parts;
}

std::optional<double> earlier_p50(const Json& baseline, const Json& model, const Json& report) {
  const Json *before = baseline.find("environment"), *now = report.find("environment");
  if (!before || !now || !same_machine(*before, *now) || settings(baseline) != settings(report)) return std::nullopt;
  const Json* latency = model.find("latency_ms");
  const Json* p50 = latency ? latency->find("p50") : nullptr;
  return p50 && p50->is_number() && p50->number() > 0 ? std::optional(p50->number()) : std::nullopt;
}

Gate not_comparable(const BenchOptions& options, double limit, const std::string& what) {
  return {"max-regress", limit, Json(), !options.strict,
          fmt::format("{}: not comparable with {} (another machine, model or setting)", what, options.baseline_file)};
}

/// The size and p50 of an entry against those of the earlier report.
void regress_gates(const Entry& entry, const BenchOptions& options, uint64_t seed, Report& report) {
  const double limit = options.max_regress.value_or(Percent{5}).value;
  const Json* model = find_model(options.baseline, entry);
  if (!model) return report.gates.push_back(not_comparable(options, limit, entry.path));
  if (const int64_t size = whole(*model, "size_bytes"); size > 0) {
    const double change = 100 * (static_cast<double>(entry.size_bytes) / static_cast<double>(size) - 1);
    report.gates.push_back({"max-regress", limit, change, change <= limit,
                            fmt::format("{}: the size changed by {:+.1f} % ({} bytes, was {}), the limit is {:.1f} %",
                                        entry.path, change, entry.size_bytes, size, limit)});
  }
  const auto before = earlier_p50(options.baseline, *model, report.data);
  if (!before) return report.gates.push_back(not_comparable(options, limit, entry.path + ": p50"));
  const Estimate now = p50_interval(entry, seed);
  const auto change = [&](double p50) { return 100 * (p50 / *before - 1); };
  report.gates.push_back(
      interval_gate("max-regress", limit, change(entry.latency.p50), change(now.low), change(now.high),
                    fmt::format("{}: p50 changed by {:+.1f} % ({:.3f} ms, was {:.3f} ms), the limit is {:.1f} %",
                                entry.path, change(entry.latency.p50), entry.latency.p50, *before, limit)));
}

}  // namespace

Json read_bench_report(const std::string& path) {
  Json report = Json::parse(read_file(path), path);
  const Json* models = report.find("models");
  const auto has_path = [](const Json& model) {
    const Json* name = model.find("path");
    return name && name->is_string();
  };
  if (!models || models->items().empty() || !std::all_of(models->items().begin(), models->items().end(), has_path))
    input_error("the file is no report of bench", path, "give what --json wrote");
  return report;
}

void check_gates(const std::vector<Entry>& entries, const std::vector<Comparison>& comparisons,
                 const BenchOptions& options, uint64_t seed, Report& report) {
  for (const Comparison& c : comparisons) {
    if (!options.min_speedup) break;
    const std::string what = fmt::format("{} against {}: ", entries[c.entry].path, entries[c.to].path);
    report.gates.push_back(speedup_gate(c.ratio, *options.min_speedup, what));
  }
  for (const Entry* entry : judged(entries, options)) {
    if (options.max_latency_ms) report.gates.push_back(latency_gate(*entry, *options.max_latency_ms, seed));
    if (options.max_size)
      bytes_gate("max-size", *entry, entry->size_bytes, options.max_size->bytes(entries[0].size_bytes), report);
    if (options.max_memory) {
      const int64_t first = entries[0].peak_memory.value_or(0);
      bytes_gate("max-memory", *entry, entry->peak_memory, options.max_memory->bytes(first), report);
    }
  }
  if (options.baseline_file.empty()) return;
  for (const Entry& entry : entries) regress_gates(entry, options, seed, report);
}

}  // namespace mlopt::cli
