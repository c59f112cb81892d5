#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>

#include "cli/backends.h"
#include "cli/bench/bench.h"
#include "cli/peak.h"
#include "cli/runner.h"
#include "core/base/error.h"
#include "core/onnx/io.h"

namespace mlopt::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMostItems = 8;                      // different inputs that a timed model goes through in turn
constexpr size_t kMostInputBytes = size_t{256} << 20;  // of all of them
constexpr double kProfileSeconds = 0.5;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

size_t bytes_of(const Batch& batch) {
  size_t bytes = 0;
  for (const Datum& value : batch.inputs) bytes += value.is_tensor() ? value.tensor().bytes() : 0;
  return bytes;
}

/// Inputs for an entry, decoded once: at least one set, several where the data have them.
std::vector<std::vector<Datum>> read_inputs(const Entry& entry, const Model& model, const BenchOptions& options,
                                            uint64_t seed) {
  const auto data = open_data(options.data, model, {.seed = seed, .whole = entry.batch == 0, .batch = entry.batch});
  const int64_t count = samples_at_once(*data, entry.batch);
  std::vector<std::vector<Datum>> items;
  size_t bytes = 0;
  for (int64_t first = 0; first + count <= data->size() && static_cast<int64_t>(items.size()) < kMostItems;
       first += count) {
    Batch batch = data->batch(first, count);
    bytes += bytes_of(batch);
    if (!items.empty() && bytes > kMostInputBytes) break;
    items.push_back(std::move(batch.inputs));
  }
  return items;
}

/// A compiled model and what it is run on.
struct Loaded {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Executable> plan;
  std::vector<std::vector<Datum>> inputs;
  std::atomic<size_t> next{0};

  void run() {
    const size_t i = inputs.size() == 1 ? 0 : next.fetch_add(1, std::memory_order_relaxed) % inputs.size();
    plan->run(inputs[i]);
  }
};

int threads_of_run(const Entry& entry, const BenchOptions& options) {
  return std::max(1, entry.threads / options.streams);
}

std::unique_ptr<Loaded> load(Entry& entry, const BenchOptions& options, const Session& session, bool profile) {
  auto loaded = std::make_unique<Loaded>();
  const auto start = Clock::now();
  const Model model = read_model(entry.path);
  entry.load_ms = ms_since(start);
  entry.size_bytes = model.file_bytes;
  entry.nodes = static_cast<int64_t>(all_nodes(*model.graph).size());
  check_batch(model, entry.batch);
  loaded->inputs = read_inputs(entry, model, options, session.common.seed);
  loaded->backend = open_backend(entry.device);
  Runner runner = options.no_prepare ? make_runner(*loaded->backend, session.common)
                                     : make_preparing_runner(*loaded->backend, session.common);
  runner.options.threads = threads_of_run(entry, options);
  runner.options.profile = profile;
  const auto compile = Clock::now();
  loaded->plan = runner.compile(model);
  entry.compile_ms = ms_since(compile);
  entry.fallback_nodes = loaded->plan->fallback_nodes();
  const auto first = Clock::now();
  with_data_hint(options.data, model, [&] { loaded->run(); });
  entry.first_run_ms = ms_since(first);
  return loaded;
}

/// Entries of equal batch size and thread count stand next to one another.
size_t group_end(const std::vector<Entry>& entries, size_t begin) {
  size_t end = begin;
  while (end < entries.size() && entries[end].batch == entries[begin].batch &&
         entries[end].threads == entries[begin].threads)
    ++end;
  return end;
}

void time_group(std::span<Entry> group, const BenchOptions& options, const Session& session) {
  std::vector<std::unique_ptr<Loaded>> loaded;
  std::vector<Candidate> candidates;
  for (Entry& entry : group) {
    loaded.push_back(load(entry, options, session, false));
    candidates.emplace_back([plan = loaded.back().get()](int) { plan->run(); });
  }
  const TimingOptions timing{.seconds = options.duration,
                             .runs = options.runs.value_or(0),
                             .warmup = options.warmup,
                             .streams = options.streams};
  std::vector<std::vector<Block>> blocks = time_interleaved(candidates, timing);
  for (size_t k = 0; k < group.size(); ++k) {
    Entry& entry = group[k];
    entry.blocks = std::move(blocks[k]);
    entry.latency = summarize(all_runs(entry.blocks));
    entry.throughput = throughput(entry.blocks) * static_cast<double>(std::max<int64_t>(entry.batch, 1));
  }
}

/// Times by step, from a plan of its own: keeping them slows the others down. The first run, which prepares, is left
/// out.
std::vector<StepProfile> profile(Entry entry, const BenchOptions& options, const Session& session) {
  const std::unique_ptr<Loaded> loaded = load(entry, options, session, true);
  const std::vector<StepProfile> before = loaded->plan->profile();
  const auto start = Clock::now();
  do {
    loaded->run();
  } while (ms_since(start) < 1e3 * kProfileSeconds);
  std::vector<StepProfile> steps = loaded->plan->profile();
  for (size_t i = 0; i < std::min(before.size(), steps.size()); ++i) {
    steps[i].seconds -= before[i].seconds;
    steps[i].calls -= before[i].calls;
  }
  return steps;
}

}  // namespace

std::vector<Entry> list_entries(const BenchOptions& options) {
  std::vector<Entry> entries;
  for (const int64_t batch : options.batches) {
    for (const int threads : options.threads) {
      for (const std::string& device : options.devices) {
        for (size_t model = 0; model < options.models.size(); ++model) {
          Entry entry;
          entry.model = model;
          entry.path = options.models[model];
          entry.device = device;
          entry.batch = batch;
          entry.threads = threads;
          entries.push_back(std::move(entry));
        }
      }
    }
  }
  return entries;
}

void measure_peaks(std::vector<Entry>& entries, const BenchOptions& options, const Session& session) {
  for (Entry& entry : entries) {
    if (entry.path == "-") continue;  // can be read only once
    // What the thread count changes is small: the first of a sweep stands for the others.
    const auto same = std::find_if(entries.begin(), entries.end(), [&](const Entry& other) {
      return other.path == entry.path && other.device == entry.device && other.batch == entry.batch;
    });
    if (&*same != &entry) {
      entry.peak_memory = same->peak_memory;
      continue;
    }
    entry.peak_memory = peak_of_run({.model = entry.path,
                                     .device = entry.device,
                                     .data = options.data,
                                     .batch = entry.batch,
                                     .threads = threads_of_run(entry, options),
                                     .seed = session.common.seed,
                                     .no_prepare = options.no_prepare});
  }
}

std::vector<Comparison> measure(std::vector<Entry>& entries, const BenchOptions& options, const Session& session) {
  std::vector<Comparison> comparisons;
  for (size_t begin = 0; begin < entries.size();) {
    const size_t end = group_end(entries, begin);
    time_group(std::span(entries).subspan(begin, end - begin), options, session);
    for (size_t k = begin + 1; k < end; ++k) {
      comparisons.push_back({k, begin, speed_ratio(entries[begin].blocks, entries[k].blocks, session.common.seed)});
    }
    begin = end;
  }
  if (!options.profile) return comparisons;
  for (Entry& entry : entries) entry.profile = profile(entry, options, session);
  return comparisons;
}

}  // namespace mlopt::cli
