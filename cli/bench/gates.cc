#include <fmt/core.h>

#include "cli/bench/bench.h"
#include "cli/environment.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/measure/machine.h"

namespace mlopt::cli {
namespace {

/// The entries that limits are for: all but the first of several models, else the only one.
std::vector<const Entry*> judged(const std::vector<Entry>& entries, const BenchOptions& options) {
  std::vector<const Entry*> chosen;
  for (const Entry& entry : entries) {
    if (options.models.size() == 1 || entry.model > 0) chosen.push_back(&entry);
  }
  return chosen;
}

void speedup_gates(const std::vector<Entry>& entries, const std::vector<Comparison>& comparisons, double limit,
                   Report& report) {
  for (const Comparison& c : comparisons) {
    const bool holds = c.ratio.low >= limit && c.ratio.blocks > 0;
    const bool unclear = !holds && c.ratio.high >= limit;
    const std::string words =
        fmt::format("{} against {}: {}, the limit is {:.2f}x{}", entries[c.entry].path, entries[c.to].path,
                    in_words(c.ratio), limit, unclear ? ": inconclusive" : "");
    report.gates.push_back({"min-speedup", limit, c.ratio.low, holds, words});
  }
}

void latency_gate(const Entry& entry, double limit, Report& report) {
  const std::string words =
      fmt::format("{}: p50 is {:.3f} ms, the limit is {:.3f} ms", entry.path, entry.latency.p50, limit);
  report.gates.push_back({"max-latency", limit, entry.latency.p50, entry.latency.p50 <= limit, words});
}

/// "40M" or "60%" of `whole`, in bytes.
int64_t bytes_limit(const std::string& text, int64_t whole, const char* option) {
  if (ends_with(text, "%")) {
    const auto percent = parse_double(text.substr(0, text.size() - 1));
    if (percent && *percent >= 0) return static_cast<int64_t>(*percent / 100 * static_cast<double>(whole));
  } else if (const auto bytes = parse_bytes(text)) {
    return *bytes;
  }
  usage_error(fmt::format("'{}' is no size", text), option, "for example 40M, or 60% of the first model");
}

void bytes_gate(const std::string& name, const Entry& entry, std::optional<int64_t> value, int64_t limit,
                Report& report) {
  const std::string shown = value ? format_bytes(static_cast<double>(*value)) : "unknown";
  const std::string words =
      fmt::format("{}: {} is {}, the limit is {}", entry.path, name == "max-size" ? "the size" : "peak memory", shown,
                  format_bytes(static_cast<double>(limit)));
  report.gates.push_back({name, limit, value ? Json(*value) : Json(), value && *value <= limit, words});
}

const Json* find_model(const Json& report, const Entry& entry) {
  const Json* models = report.find("models");
  if (!models) return nullptr;
  for (const Json& model : models->items()) {
    const Json *path = model.find("path"), *device = model.find("device"), *batch = model.find("batch");
    const int64_t rows = batch && batch->is_integer() ? batch->integer() : 0;
    if (path && device && path->is_string() && device->is_string() && path->string() == entry.path &&
        device->string() == entry.device && rows == entry.batch) {
      return &model;
    }
  }
  return nullptr;
}

std::optional<double> earlier_p50(const Json& baseline, const Entry& entry, const Json& environment) {
  const Json *machine = baseline.find("environment"), *model = find_model(baseline, entry);
  if (!machine || !model || !same_machine(*machine, environment)) return std::nullopt;
  const Json* latency = model->find("latency_ms");
  const Json* p50 = latency ? latency->find("p50") : nullptr;
  return p50 && p50->is_number() && p50->number() > 0 ? std::optional(p50->number()) : std::nullopt;
}

void regress_gates(const std::vector<Entry>& entries, const BenchOptions& options, Report& report) {
  const Json baseline = Json::parse(read_file(options.baseline));
  const double allowed = options.max_regress.value_or(5);
  for (const Entry& entry : entries) {
    const auto before = earlier_p50(baseline, entry, report.data["environment"]);
    if (!before) {
      report.gates.push_back({"max-regress", allowed, Json(), !options.strict,
                              fmt::format("{}: not comparable with {} (another machine, model or setting)", entry.path,
                                          options.baseline)});
      continue;
    }
    const double change = 100 * (entry.latency.p50 / *before - 1);
    report.gates.push_back(
        {"max-regress", allowed, change, change <= allowed,
         fmt::format("{}: p50 changed by {:+.1f} % ({:.3f} ms, was {:.3f} ms), the limit is {:.1f} %", entry.path,
                     change, entry.latency.p50, *before, allowed)});
  }
}

}  // namespace

void check_gates(const std::vector<Entry>& entries, const std::vector<Comparison>& comparisons,
                 const BenchOptions& options, Report& report) {
  if (options.min_speedup) {
    if (comparisons.empty())
      usage_error("--min-speedup needs a second model", {}, "give the model to compare with first");
    speedup_gates(entries, comparisons, *options.min_speedup, report);
  }
  for (const Entry* entry : judged(entries, options)) {
    if (options.max_latency_ms) latency_gate(*entry, *options.max_latency_ms, report);
    if (!options.max_size.empty()) {
      bytes_gate("max-size", *entry, entry->size_bytes,
                 bytes_limit(options.max_size, entries[0].size_bytes, "--max-size"), report);
    }
    if (!options.max_memory.empty()) {
      const int64_t whole = entries[0].peak_memory.value_or(0);
      bytes_gate("max-memory", *entry, entry->peak_memory, bytes_limit(options.max_memory, whole, "--max-memory"),
                 report);
    }
  }
  if (!options.baseline.empty()) regress_gates(entries, options, report);
}

}  // namespace mlopt::cli
