#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace mlopt {

struct TimingOptions {
  double seconds = 2;        ///< counted time of each candidate, at least
  int64_t runs = 0;          ///< counted runs of each candidate, exactly; 0: as many as fit into `seconds`
  double warmup = 0.3;       ///< seconds of uncounted runs before (at least one run, unless 0)
  double block = 0.1;        ///< seconds of a block, at least
  int streams = 1;           ///< threads that run at the same time, each with a team of its own
  size_t least_blocks = 5;   ///< of each of several candidates, if there are as many `runs`
  bool count_first = false;  ///< count the first run of a block too
};

/// Consecutive runs of one candidate.
struct Block {
  std::vector<double> seconds;  ///< of each counted run
  double elapsed = 0;           ///< wall time of all counted runs
};

/// One thing to time: `stream` is 0 .. streams - 1.
using Candidate = std::function<void(int stream)>;

/// Blocks of the candidates in turn (A, B, A, B, ...), so that what drifts on the machine meets all of them alike. The
/// first run of a block warms the caches and is not counted (with one candidate and one stream, that of the first block
/// only). Several candidates get at least `least_blocks` blocks each. Exceptions of a candidate are rethrown.
std::vector<std::vector<Block>> time_interleaved(std::span<const Candidate> candidates, const TimingOptions& options);

/// All counted runs of some blocks.
std::vector<double> all_runs(const std::vector<Block>& blocks);
/// Runs in a second of counted wall time.
double throughput(const std::vector<Block>& blocks);

}  // namespace mlopt
