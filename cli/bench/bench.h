#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/data.h"
#include "cli/gates.h"
#include "cli/gpus.h"
#include "core/calib/compare_runs.h"
#include "core/exec/backend.h"
#include "core/ir/model.h"
#include "core/measure/ratio.h"
#include "core/measure/roofline.h"
#include "core/measure/stats.h"

namespace mlopt::cli {

struct BenchOptions {
  std::vector<std::string> models;
  DataFlags data;
  std::vector<std::string> devices;
  std::vector<int64_t> batches;  ///< {0}: as the data and the model say
  std::vector<int> threads;      ///< of a run; shared out to the streams
  int streams = 1;
  std::string precision;  ///< as --precision names it
  double duration = 2, warmup = 0.3;
  std::optional<int64_t> runs;
  bool profile = false, show_plan = false, no_prepare = false, autotune = false;
  // Gates.
  std::optional<double> min_speedup, max_latency_ms;
  std::optional<SizeLimit> max_memory, max_size;
  std::optional<Percent> max_regress;
  std::string baseline_file;
  Json baseline;  ///< what is in that file
  bool strict = false;
};

/// A model on a device, with a batch size and a thread count: one row of the table.
struct Entry {
  size_t model = 0;  ///< its place among those that were given
  std::string path, device;
  int64_t batch = 0;
  int threads = 1;

  std::optional<int64_t> peak_memory;
  int64_t size_bytes = 0, nodes = 0;
  double compile_ms = 0;
  std::optional<double> load_ms, first_run_ms;
  std::string precision = "fp32";
  std::optional<RunComparison> from_fp32;  ///< how far the outputs are from those in fp32, in any other precision
  std::vector<std::string> fallback_nodes;
  std::vector<Block> blocks;
  Latency latency;
  std::optional<double> joules;  ///< of the GPU, for a run
  double throughput = 0;         ///< samples (with --batch) or runs in a second
  std::vector<StepProfile> profile;
  int64_t profiled_runs = 0;
  std::optional<Roofline> roofline;  ///< of the machine, measured with the profile
  std::string peak_precision;        ///< of a GPU's roofline; empty: it is the processor's
  std::vector<NodeCopies> copies;    ///< of a run, for what a GPU has the processor run
  std::optional<PlanInfo> plan;
};

/// How an entry compares with the first one of the same batch size and thread count.
struct Comparison {
  size_t entry = 0, to = 0;
  Ratio ratio;
};

/// As reports have them in `.models[]` and `.ratios[]`; null stands for what was not measured.
Json to_json(const Entry& entry);
Json to_json(const Comparison& comparison, const std::vector<Entry>& entries);

/// An earlier report of this command; throws Error{kBadInput} when the file is none.
Json read_bench_report(const std::string& path);
/// Every combination, those that are timed against one another next to one another.
std::vector<Entry> list_entries(const BenchOptions& options);
/// The peak memory of one run of each entry, in a process of its own.
void measure_peaks(std::vector<Entry>& entries, const BenchOptions& options, const Session& session);
/// Times all entries.
std::vector<Comparison> measure(std::vector<Entry>& entries, const BenchOptions& options, const Session& session);

/// Times by step, from a plan of its own for each entry: keeping them slows it down.
void profile(std::vector<Entry>& entries, const BenchOptions& options, const Session& session);
/// The copies alone, likewise, of entries that need some.
void time_copies(std::vector<Entry>& entries, const BenchOptions& options, const Session& session);
/// Prints what would run, and runs nothing.
void show_plans(std::vector<Entry>& entries, const BenchOptions& options, Session& session);

/// "m.onnx, batch 2": what tells an entry from the others.
std::string described(const Entry& entry, const std::vector<Entry>& all);
/// As `.models[].profile`, and as tables: the slowest steps, or all of them.
Json profile_json(const Entry& entry);
void profile_tables(const Entry& entry, const std::string& title, bool all, Report& report);
void report_entries(const std::vector<Entry>& entries, const std::vector<Comparison>& comparisons, bool verbose,
                    Report& report);
/// The machine, the libraries and how noisy it is now.
void report_environment(const BenchOptions& options, Session& session);
/// Says so when report_environment() found much noise.
void warn_of_noise(const Session& session);
void check_gates(const std::vector<Entry>& entries, const std::vector<Comparison>& comparisons,
                 const BenchOptions& options, uint64_t seed, Report& report);

}  // namespace mlopt::cli
