#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>

#include "cli/backends.h"
#include "cli/bench/load.h"
#include "cli/bench/step.h"
#include "cli/precision.h"
#include "core/base/text.h"
#include "core/onnx/io.h"

namespace mlopt::cli {
namespace {

constexpr size_t kShownSteps = 12;
constexpr double kProfileSeconds = 0.5;

/// The times of a plan of its own. The first run, which prepares, is left out.
void time_steps(Entry& entry, const BenchOptions& options, const Session& session) {
  using Clock = std::chrono::steady_clock;
  Entry own = entry;
  const std::unique_ptr<Loaded> loaded = load(own, options, session, Purpose::kProfile);
  const std::vector<StepProfile> before = loaded->plan->profile();
  const auto start = Clock::now();
  do {
    loaded->run();
    ++entry.profiled_runs;
  } while (std::chrono::duration<double>(Clock::now() - start).count() < kProfileSeconds);
  std::vector<StepProfile> steps = loaded->plan->profile();
  for (size_t i = 0; i < std::min(before.size(), steps.size()); ++i) {
    steps[i].seconds -= before[i].seconds;
    steps[i].calls -= before[i].calls;
  }
  entry.profile = std::move(steps);
}

/// A short measurement of what the processor can do, for entries that run on it.
void find_cpu_rooflines(std::vector<Entry>& entries, const BenchOptions& options) {
  std::set<int> threads;
  for (const Entry& entry : entries)
    if (entry.device == "cpu") threads.insert(threads_of_run(entry, options));
  if (threads.empty()) return;
  const auto found = measure_rooflines(*open_backend("cpu"), {threads.begin(), threads.end()},
                                       {.size = 1024, .copy_bytes = 200000000, .seconds = 0.1});
  for (Entry& entry : entries)
    for (const Roofline& r : found)
      if (entry.device == "cpu" && r.threads == threads_of_run(entry, options)) entry.roofline = r;
}

/// In which a GPU computes most: as was asked for, or as the weights are.
std::string arithmetic_of(const Entry& entry, const BenchOptions& options) {
  if (precision_of(options.precision) != Precision::kF32) return options.precision;
  const Model model = read_model(entry.path);
  for (const Value* v : model.graph->values()) {
    if (!v->constant || v->constant->rank() < 2) continue;
    if (v->constant->dtype() == DType::kF16) return "fp16";
    if (v->constant->dtype() == DType::kBF16) return "bf16";
  }
  return "fp32";
}

void find_gpu_rooflines(std::vector<Entry>& entries, const BenchOptions& options) {
  std::map<std::pair<int, std::string>, std::optional<Roofline>> found;
  for (Entry& entry : entries) {
    const std::optional<int> gpu = gpu_index(entry.device);
    if (!gpu) continue;
    entry.peak_precision = arithmetic_of(entry, options);
    auto& limits = found[{*gpu, entry.peak_precision}];
    if (!limits) limits = gpu_roofline(entry.device, entry.peak_precision);
    entry.roofline = limits;
  }
}

double total_seconds(const std::vector<StepProfile>& steps) {
  double sum = 0;
  for (const StepProfile& step : steps) sum += step.inner ? 0 : step.seconds;
  return sum;
}

struct Share {
  std::string name;
  double seconds = 0;
  int64_t calls = 0;
};

std::vector<Share> by_operator(const std::vector<StepProfile>& steps) {
  std::map<std::string, Share> sums;
  for (const StepProfile& step : steps) {
    Share& share = sums[step.op];
    share.name = step.op;
    share.seconds += step.seconds;
    share.calls += step.calls;
  }
  std::vector<Share> shares;
  for (auto& [op, share] : sums) shares.push_back(std::move(share));
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.seconds > b.seconds; });
  return shares;
}

/// How fast a step ran; nothing where its sizes are not known.
struct Speed {
  std::optional<double> gflops, gb_per_s;
  std::optional<double> roofline;  ///< as a share of what the machine can do
};

Speed speed_of(const StepProfile& step, const std::optional<Roofline>& limits) {
  Speed speed;
  if (step.seconds <= 0) return speed;
  const double times = static_cast<double>(step.calls) / step.seconds;
  const auto flops = 2 * static_cast<double>(step.macs.value_or(0)),
             bytes = static_cast<double>(step.bytes.value_or(0));
  if (flops > 0) speed.gflops = 1e-9 * flops * times;
  if (bytes > 0) speed.gb_per_s = 1e-9 * bytes * times;
  if (!limits || !step.macs || bytes == 0 || (step.integer && !limits->int8)) return speed;
  const double peak = step.integer ? limits->int8->best : limits->gflops.best, copy = limits->copy.best;
  speed.roofline = flops > 0 ? *speed.gflops / attainable(peak, copy, flops, bytes) : *speed.gb_per_s / copy;
  return speed;
}

/// The roofline of what ran the step: a GPU's says nothing of nodes on the processor.
std::optional<Roofline> limits_of(const StepProfile& step, const Entry& entry) {
  const bool on_processor = step.kernel == "cpu" || step.kernel == "host";
  return gpu_index(entry.device) && on_processor ? std::nullopt : entry.roofline;
}

Json step_json(const StepProfile& step, const Entry& entry, double runs, double total) {
  const Speed speed = speed_of(step, limits_of(step, entry));
  Json json = Json::object({{"node", step.node}, {"op", step.op}});
  add_step(step, json);
  json["ms"] = 1e3 * step.seconds / runs;
  json["calls"] = step.calls;
  json["share"] = total > 0 ? step.seconds / total : 0;
  json["gflops"] = or_null(speed.gflops);
  json["gb_per_s"] = or_null(speed.gb_per_s);
  json["roofline"] = or_null(speed.roofline);
  return json;
}

Json limits_json(const Roofline& limits) {
  return Json::object({{"threads", limits.threads > 0 ? Json(limits.threads) : Json()},
                       {"matrix", limits.size},
                       {"gflops", limits.gflops.best},
                       {"int8_gops", limits.int8 ? Json(limits.int8->best) : Json()},
                       {"copy_bytes", limits.copy_bytes},
                       {"copy_gb_per_s", limits.copy.best}});
}

std::string cell(const char* format, const std::optional<double>& value, double factor = 1) {
  return value ? fmt::format(fmt::runtime(format), factor * *value) : "";
}

std::string ms(double seconds) { return fmt::format("{:.{}f}", 1e3 * seconds, seconds < 1e-4 ? 4 : 3); }

std::string percent(double part, double total) { return fmt::format("{:.1f} %", total > 0 ? 100 * part / total : 0); }

}  // namespace

void profile(std::vector<Entry>& entries, const BenchOptions& options, const Session& session) {
  find_cpu_rooflines(entries, options);
  find_gpu_rooflines(entries, options);
  for (Entry& entry : entries) {
    time_steps(entry, options, session);
    entry.copies = fallback_copies(entry.profile, entry.profiled_runs);
  }
}

void time_copies(std::vector<Entry>& entries, const BenchOptions& options, const Session& session) {
  for (Entry& entry : entries) {
    if (entry.fallback_nodes.empty() || !gpu_index(entry.device) || entry.path == "-") continue;
    Entry timed = entry;
    time_steps(timed, options, session);
    entry.copies = fallback_copies(timed.profile, timed.profiled_runs);
  }
}

Json profile_json(const Entry& entry) {
  const int64_t runs = entry.profiled_runs;
  const double total = total_seconds(entry.profile), per_run = 1e3 / static_cast<double>(runs);
  Json nodes = Json::array(), operators = Json::array();
  for (const StepProfile& step : entry.profile)
    nodes.push_back(step_json(step, entry, static_cast<double>(runs), total));
  for (const Share& s : by_operator(entry.profile))
    operators.push_back(Json::object({{"op", s.name}, {"ms", per_run * s.seconds}, {"calls", s.calls}}));
  return Json::object({{"runs", runs},
                       {"total_ms", per_run * total},
                       {"peak", entry.roofline ? limits_json(*entry.roofline) : Json()},
                       {"nodes", nodes},
                       {"operators", operators}});
}

void profile_tables(const Entry& entry, const std::string& title, bool all, Report& report) {
  const auto runs = static_cast<double>(entry.profiled_runs);
  const double total = total_seconds(entry.profile);
  Table& operators = report.table("by operator: " + title, {"operator", "ms", "share", "calls"});
  for (const Share& share : by_operator(entry.profile))
    operators.rows.push_back(
        {share.name, ms(share.seconds / runs), percent(share.seconds, total), std::to_string(share.calls)});
  std::vector<StepProfile> steps = entry.profile;
  std::stable_sort(steps.begin(), steps.end(),
                   [](const StepProfile& a, const StepProfile& b) { return a.seconds > b.seconds; });
  if (!all) steps.resize(std::min(steps.size(), kShownSteps));
  Table& table = report.table("slowest steps: " + title, {"step", "operators", "kernel", "layout", "ms", "share",
                                                          "GFLOP/s", "GB/s", "of the roofline"});
  table.left = 4;
  for (const StepProfile& step : steps) {
    const Speed speed = speed_of(step, limits_of(step, entry));
    table.rows.push_back({shortened(step.node), operators_of(step), step.kernel, step.layout, ms(step.seconds / runs),
                          percent(step.seconds, total), cell("{:.1f}", speed.gflops), cell("{:.2f}", speed.gb_per_s),
                          cell("{:.0f} %", speed.roofline, 100)});
  }
  if (!entry.roofline) return;
  const Roofline& r = *entry.roofline;
  const std::string of = entry.peak_precision.empty() ? fmt::format("{} threads", r.threads)
                                                      : fmt::format("the GPU in {}", entry.peak_precision);
  report.line(fmt::format("roofline of {}, measured just now: {:.1f} GFLOP/s{}, {:.1f} GB/s of memory", of,
                          r.gflops.best, r.int8 ? fmt::format(" (8 bits: {:.1f})", r.int8->best) : "", r.copy.best));
}

}  // namespace mlopt::cli
