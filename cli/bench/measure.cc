#include <algorithm>

#include "cli/bench/load.h"
#include "cli/peak.h"

namespace mlopt::cli {
namespace {

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
    loaded.push_back(load(entry, options, session, Purpose::kTiming));
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
    entry.joules = joules_per_run(entry.device, [plan = loaded[k].get()] { plan->run(); });
    entry.throughput = throughput(entry.blocks) * static_cast<double>(std::max<int64_t>(entry.batch, 1));
  }
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
                                     .precision = options.precision,
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
  if (options.profile)
    profile(entries, options, session);
  else
    time_copies(entries, options, session);
  return comparisons;
}

}  // namespace mlopt::cli
