#include "cli/verb/stopwatch.h"

#include <algorithm>
#include <array>

#include "cli/backends.h"
#include "cli/runner.h"
#include "core/measure/ratio.h"
#include "core/measure/timing.h"

namespace mlopt::cli {

namespace {

constexpr double kBlocks = 6;  // of each plan, where a run is shorter than that

}  // namespace

double Stopwatch::share(const Model& model) {
  if (!backend_) {
    backend_ = open_backend(session_.common.device);
    before_ = make_preparing_runner(*backend_, session_.common).compile(source_);
    DataFlags flags = verb_.data;
    if (flags.spec.empty()) flags.spec = "random:1";
    const auto data = open_data(flags, source_, {.seed = session_.common.seed});
    inputs_ = data->batch(0, std::max<int64_t>(1, data->batch_size())).inputs;
  }
  const auto after = make_preparing_runner(*backend_, session_.common).compile(model);
  const std::array<Candidate, 2> candidates = {[&](int) { before_->run(inputs_); }, [&](int) { after->run(inputs_); }};
  const double each = verb_.bench_seconds() / 2, block = std::min(0.1, each / kBlocks);
  const auto blocks = time_interleaved(candidates, {.seconds = each, .warmup = block, .block = block});
  return 1 / speed_ratio(blocks[0], blocks[1], session_.common.seed).median;
}

}  // namespace mlopt::cli
