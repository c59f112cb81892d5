#include "core/measure/timing.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <latch>
#include <limits>
#include <mutex>
#include <thread>

namespace mlopt {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kReserved = 4096;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void warm_up(const Candidate& candidate, double seconds) {
  if (seconds <= 0) return;
  const auto start = Clock::now();
  do {
    candidate(0);
  } while (seconds_since(start) < seconds);
}

/// Runs until `seconds` have passed, or `most` runs are done; at least one.
Block run_block(const Candidate& candidate, int stream, double seconds, int64_t most) {
  Block block;
  block.seconds.reserve(kReserved);
  const auto start = Clock::now();
  auto before = start;
  do {
    candidate(stream);
    const auto after = Clock::now();
    block.seconds.push_back(std::chrono::duration<double>(after - before).count());
    before = after;
  } while (std::chrono::duration<double>(before - start).count() < seconds &&
           static_cast<int64_t>(block.seconds.size()) < most);
  block.elapsed = std::chrono::duration<double>(before - start).count();
  return block;
}

/// The same on several threads at once; `most` runs in all.
Block run_streams(const Candidate& candidate, double seconds, int64_t most, int streams, bool skip_first) {
  Block merged;
  std::mutex mutex;
  std::exception_ptr failure;
  std::latch ready(streams);
  const auto work = [&](int stream) {
    try {
      if (skip_first) candidate(stream);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
    ready.arrive_and_wait();
    const int64_t share = most / streams + (stream < most % streams ? 1 : 0);
    const bool failed = [&] {
      const std::lock_guard lock(mutex);
      return failure != nullptr;
    }();
    if (failed || share == 0) return;
    try {
      const Block own = run_block(candidate, stream, seconds, share);
      const std::lock_guard lock(mutex);
      merged.seconds.insert(merged.seconds.end(), own.seconds.begin(), own.seconds.end());
      merged.elapsed = std::max(merged.elapsed, own.elapsed);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    int started = 0;
    try {
      for (; started < streams; ++started) threads.emplace_back(work, started);
    } catch (...) {
      {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
      ready.count_down(streams - started);  // the others wait for all
    }
  }
  if (failure) std::rethrow_exception(failure);
  return merged;
}

struct Progress {
  double seconds = 0;
  int64_t runs = 0;
};

/// Runs that the next block may have. Several candidates take turns also where all `runs` would fit into one block.
int64_t most_runs(const Progress& progress, size_t candidates, const TimingOptions& options) {
  if (options.runs == 0) return std::numeric_limits<int64_t>::max();
  const auto blocks = candidates > 1 ? static_cast<int64_t>(options.least_blocks) : 1;
  return std::min(options.runs - progress.runs, (options.runs + blocks - 1) / blocks);
}

bool finished(const Progress& progress, size_t blocks, size_t candidates, const TimingOptions& options) {
  if (options.runs > 0) return progress.runs >= options.runs;
  return progress.seconds >= options.seconds && (candidates == 1 || blocks >= options.least_blocks);
}

}  // namespace

std::vector<std::vector<Block>> time_interleaved(std::span<const Candidate> candidates, const TimingOptions& options) {
  std::vector<std::vector<Block>> blocks(candidates.size());
  std::vector<Progress> progress(candidates.size());
  for (const Candidate& candidate : candidates) warm_up(candidate, options.warmup);
  for (bool more = true; more;) {
    more = false;
    for (size_t k = 0; k < candidates.size(); ++k) {
      if (finished(progress[k], blocks[k].size(), candidates.size(), options)) continue;
      const int64_t most = most_runs(progress[k], candidates.size(), options);
      const bool skip_first =
          !options.count_first && (candidates.size() > 1 || blocks[k].empty() || options.streams > 1);
      if (options.streams > 1) {
        blocks[k].push_back(run_streams(candidates[k], options.block, most, options.streams, skip_first));
      } else {
        if (skip_first) candidates[k](0);
        blocks[k].push_back(run_block(candidates[k], 0, options.block, most));
      }
      progress[k].seconds += blocks[k].back().elapsed;
      progress[k].runs += static_cast<int64_t>(blocks[k].back().seconds.size());
      more = true;
    }
  }
  return blocks;
}

std::vector<double> all_runs(const std::vector<Block>& blocks) {
  std::vector<double> seconds;
  for (const Block& block : blocks) seconds.insert(seconds.end(), block.seconds.begin(), block.seconds.end());
  return seconds;
}

double throughput(const std::vector<Block>& blocks) {
  double runs = 0, elapsed = 0;
  for (const Block& block : blocks) {
    runs += static_cast<double>(block.seconds.size());
    elapsed += block.elapsed;
  }
  return elapsed > 0 ? runs / elapsed : 0;
}

}  // namespace mlopt
