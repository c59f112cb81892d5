#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "cli/bench/bench.h"

namespace mlopt::cli {

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

/// The threads of one of the streams.
int threads_of_run(const Entry& entry, const BenchOptions& options);

/// What a model is compiled for: to be timed, to be timed by step, or for its plan alone, which does not run it.
enum class Purpose { kTiming, kProfile, kPlan };

/// Reads and compiles the model of an entry, notes what there is to say of it, and runs it once.
std::unique_ptr<Loaded> load(Entry& entry, const BenchOptions& options, const Session& session, Purpose purpose);

}  // namespace mlopt::cli
