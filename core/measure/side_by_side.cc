#include "core/measure/side_by_side.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace mlopt {
namespace {

constexpr double kBlocks = 6;          // of each plan
constexpr double kLongestBlock = 0.1;  // seconds
constexpr double kFewestPairs = 4;     // of runs of both: fewer say nothing
constexpr double kPatience = 1.5;      // the measurement may take that much longer than was asked for

/// Seconds of the faster of two runs: the first one may prepare. A first run longer than `seconds` is the only one.
double one_run(const Candidate& candidate, double seconds) {
  double best = 0;
  for (int i = 0; i < 2 && best <= seconds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    candidate(0);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = i == 0 ? elapsed.count() : std::min(best, elapsed.count());
  }
  return best;
}

}  // namespace

SideBySide measure_side_by_side(Executable& source, std::span<const Datum> source_inputs, Executable& result,
                                std::span<const Datum> result_inputs, double seconds, uint64_t seed) {
  const std::array<Candidate, 2> candidates = {[&](int) { source.run(source_inputs); },
                                               [&](int) { result.run(result_inputs); }};
  SideBySide both;
  double pair = 0;
  for (const Candidate& candidate : candidates) {
    const double once = one_run(candidate, seconds);
    pair += once;
    const double needed = kFewestPairs * std::max(pair, 2 * once);
    if (needed <= kPatience * seconds) continue;
    both.left_out = fmt::format("one run takes {:.2g} s, too long for a measurement of {:.2g} s", once, seconds);
    return both;
  }
  // Runs this long need no block of several of them, and none is to be thrown away: both have just run.
  const bool long_runs = pair * 2 * kBlocks > seconds;
  const TimingOptions timing{.seconds = seconds / 2,
                             .warmup = 0,
                             .block = long_runs ? 0 : std::min(kLongestBlock, seconds / (2 * kBlocks)),
                             .least_blocks = long_runs ? static_cast<size_t>(kFewestPairs) : size_t{5},
                             .count_first = long_runs};
  std::vector<std::vector<Block>> blocks = time_interleaved(candidates, timing);
  both.source_blocks = std::move(blocks[0]);
  both.result_blocks = std::move(blocks[1]);
  both.source = summarize(all_runs(both.source_blocks));
  both.result = summarize(all_runs(both.result_blocks));
  std::vector<double> medians;
  for (const Block& block : both.result_blocks) medians.push_back(1e3 * median(block.seconds));
  both.result_p50 = bootstrap_median(medians, seed);
  both.ratio = speed_ratio(both.source_blocks, both.result_blocks, seed);
  return both;
}

}  // namespace mlopt
