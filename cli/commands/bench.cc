#include "cli/bench/bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cli/backends.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/precision.h"
#include "core/base/cpus.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

/// What was given, before it is checked.
struct Flags {
  BenchOptions bench;
  std::string batches, csv, html;
  bool sweep_threads = false;
};

constexpr int64_t kMaxBatch = 1 << 20;
constexpr int kMaxStreams = 1024;
constexpr int kMaxSeconds = 1000000;

std::vector<int64_t> parse_batches(const std::string& text) {
  if (text.empty()) return {0};
  std::vector<int64_t> batches;
  for (const std::string& piece : split(text, ',')) {
    const auto batch = parse_int(piece);
    if (!batch || *batch < 1 || *batch > kMaxBatch)
      usage_error(fmt::format("'{}' is no batch size", piece), "--batch", "for example --batch 1,8");
    batches.push_back(*batch);
  }
  return batches;
}

/// 1, 2, 4, ... and the most.
std::vector<int> thread_counts(bool sweep, int most) {
  if (!sweep) return {most};
  std::vector<int> counts;
  for (int n = 1; n < most; n *= 2) counts.push_back(n);
  counts.push_back(most);
  return counts;
}

bool has_gates(const BenchOptions& o) {
  return o.min_speedup || o.max_latency_ms || o.max_memory || o.max_size || !o.baseline_file.empty();
}

BenchOptions checked(const Flags& flags, const Common& common) {
  BenchOptions bench = flags.bench;
  bench.devices = split(with_autotune(common.device.empty() ? default_device() : common.device, bench.autotune), ',');
  bench.batches = parse_batches(flags.batches);
  bench.threads = thread_counts(flags.sweep_threads, common.threads);
  if (!(bench.duration > 0 && bench.duration <= kMaxSeconds))
    usage_error(fmt::format("the duration must be above 0 and at most {} s", kMaxSeconds), "--duration");
  if (!(bench.warmup >= 0 && bench.warmup <= kMaxSeconds))
    usage_error(fmt::format("the warmup must be from 0 to {} s", kMaxSeconds), "--warmup");
  if (bench.runs && *bench.runs < 1) usage_error("at least one run is measured", "--runs");
  if (bench.streams < 1 || bench.streams > kMaxStreams)
    usage_error(fmt::format("the number of streams must be from 1 to {}", kMaxStreams), "--streams");
  if (bench.show_plan && (bench.profile || has_gates(bench) || !flags.csv.empty() || !flags.html.empty()))
    usage_error("--show-plan times nothing", {}, "leave out --profile, --csv, --html and the gates");
  if (bench.max_regress && bench.baseline_file.empty())
    usage_error("--max-regress needs --baseline", {}, "give an earlier report of --json");
  if (!bench.baseline_file.empty()) bench.baseline = read_bench_report(bench.baseline_file);
  if (bench.min_speedup && bench.models.size() * bench.devices.size() < 2)
    usage_error("--min-speedup needs a second model", {}, "give the model to compare with first");
  for (const auto& [limit, name] : {std::pair(bench.max_size, "--max-size"), {bench.max_memory, "--max-memory"}})
    if (limit && limit->percent && bench.models.size() < 2)
      usage_error("a share of the first model needs a second model", name, "give the model to compare with first");
  const bool piped = std::count(bench.models.begin(), bench.models.end(), "-") > 0;
  if (piped && bench.models.size() * bench.devices.size() * bench.batches.size() * bench.threads.size() > 1)
    usage_error("standard input can be measured alone only", "-", "write the model to a file");
  if (piped && bench.profile)
    usage_error("--profile reads the model once more than standard input can be read", "-",
                "write the model to a file");
  return bench;
}

void run(const Flags& flags, Session& session) {
  const BenchOptions options = checked(flags, session.common);
  if (flags.csv == "-") session.claim_stdout("--csv -");
  if (flags.html == "-") session.claim_stdout("--html -");
  std::vector<Entry> entries = list_entries(options);
  if (options.show_plan) return show_plans(entries, options, session);
  measure_peaks(entries, options, session);
  report_environment(options, session);
  const std::vector<Comparison> comparisons = measure(entries, options, session);
  warn_of_noise(session);
  report_entries(entries, comparisons, session.common.verbose, session.report);
  check_gates(entries, comparisons, options, session.common.seed, session.report);
  if (!flags.csv.empty()) write_text(flags.csv, to_csv(session.report));
  if (!flags.html.empty()) write_text(flags.html, to_html(session.report));
}

void declare_gates(Options& options, Flags& flags) {
  options.add("--min-speedup", flags.bench.min_speedup, "R",
              "the lower end of the interval of every ratio must reach R");
  options.add("--max-latency", flags.bench.max_latency_ms, "MS", "p50 of every model but the first (of the only one)");
  options.add("--max-memory", flags.bench.max_memory, "X", "peak memory, in bytes (40M) or % of the first model");
  options.add("--max-size", flags.bench.max_size, "X", "size of the file, in bytes (40M) or % of the first model");
  options.add("--baseline", flags.bench.baseline_file, "F.json", "an earlier report to compare with");
  options.add("--max-regress", flags.bench.max_regress, "P%",
              "how much slower or larger than in the baseline a model may be (default: 5%)");
  options.add("--strict", flags.bench.strict, "what could not be compared is a failure");
}

Action setup(Options& options) {
  const auto flags = std::make_shared<Flags>();
  options.positional("MODEL", flags->bench.models, "the models; each is compared with the first");
  declare_data(options, flags->bench.data, "random");
  options.add("--batch", flags->batches, "N,N", "batch sizes to measure");
  options.add("--streams", flags->bench.streams, "N", "parallel requests, which share the threads (default: 1)");
  options.add("--duration", flags->bench.duration, "S", "seconds of measurement for each model (default: 2)");
  options.add("--runs", flags->bench.runs, "N", "measure exactly so many runs in place of --duration");
  options.add("--warmup", flags->bench.warmup, "S", "seconds before the measurement (default: 0.3)");
  declare_precision(options, flags->bench.precision);
  options.add("--autotune", flags->bench.autotune, kAutotuneHelp);
  options.add("--profile", flags->bench.profile, "time by operator and by step, against what the machine can do");
  options.add("--no-prepare", flags->bench.no_prepare, "run the graphs as they stand, without the passes of fuse");
  options.add("--show-plan", flags->bench.show_plan,
              "print what would run, in which layouts and memory; times nothing");
  options.add("--sweep-threads", flags->sweep_threads, "measure 1, 2, 4, ... threads");
  options.add("--csv", flags->csv, "FILE", "write the tables as CSV").writes = true;
  options.add("--html", flags->html, "FILE", "write the report as one page").writes = true;
  declare_gates(options, *flags);
  return [flags](Session& session) { run(*flags, session); };
}

}  // namespace

Command bench_command() {
  return {
      .name = "bench",
      .arguments = "MODEL [OTHER ...]",
      .summary = "measure latency, throughput and memory, of one model or of several side by side",
      .examples = {{{"bench fp32.onnx int8.onnx --min-speedup 1.5", "is the second model at least 1.5 times as fast?"},
                    {"bench model.onnx --batch 1,8 --profile --json report.json",
                     "two batch sizes, and where the time goes"}}},
      .setup = setup};
}

}  // namespace mlopt::cli
