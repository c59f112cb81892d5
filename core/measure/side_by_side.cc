#include "core/measure/side_by_side.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace mlopt {
namespace {

constexpr double kBlocks = 6;          // of each plan
constexpr double kLongestBlock = 0.1;  // seconds

/// Seconds of the faster of two runs: the first one may prepare.
double one_run(const Candidate& candidate) {
  double best = 0;
  for (int i = 0; i < 2; ++i) {
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
  for (const Candidate& candidate : candidates) {
    const double once = one_run(candidate);
    if (once <= seconds) continue;
    both.left_out = fmt::format("one run takes {:.1f} s, longer than the {:g} s of the measurement", once, seconds);
    return both;
  }
  const TimingOptions timing{
      .seconds = seconds / 2, .warmup = 0, .block = std::min(kLongestBlock, seconds / (2 * kBlocks))};
  const std::vector<std::vector<Block>> blocks = time_interleaved(candidates, timing);
  both.source = summarize(all_runs(blocks[0]));
  both.result = summarize(all_runs(blocks[1]));
  both.ratio = speed_ratio(blocks[0], blocks[1], seed);
  return both;
}

}  // namespace mlopt
