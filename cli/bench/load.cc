#include "cli/bench/load.h"

#include <algorithm>
#include <chrono>

#include "cli/backends.h"
#include "cli/precision.h"
#include "cli/runner.h"
#include "core/onnx/io.h"

namespace mlopt::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMostItems = 8;                      // different inputs that a timed model goes through in turn
constexpr size_t kMostInputBytes = size_t{256} << 20;  // of all of them

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

/// Lower precision is never silent.
RunComparison difference_from_fp32(Runner runner, const Model& model, Loaded& loaded) {
  runner.options.precision = Precision::kF32;
  runner.options.profile = false;
  const std::vector<Datum>& inputs = loaded.inputs[0];
  return compare_outputs(loaded.plan->output_names(), runner.compile(model)->run(inputs), loaded.plan->run(inputs));
}

}  // namespace

int threads_of_run(const Entry& entry, const BenchOptions& options) {
  return std::max(1, entry.threads / options.streams);
}

std::unique_ptr<Loaded> load(Entry& entry, const BenchOptions& options, const Session& session, Purpose purpose) {
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
  runner.options.profile = purpose == Purpose::kProfile;
  runner.options.precision = precision_of(options.precision);
  const auto compile = Clock::now();
  loaded->plan = runner.compile(model);
  entry.compile_ms = ms_since(compile);
  const auto first = Clock::now();
  with_data_hint(options.data, model, [&] {
    if (purpose == Purpose::kPlan)
      entry.plan = loaded->plan->plan_info(loaded->inputs[0]);
    else
      loaded->run();
  });
  if (purpose != Purpose::kPlan) entry.first_run_ms = ms_since(first);
  entry.precision = options.precision;
  if (purpose == Purpose::kTiming && runner.options.precision != Precision::kF32)
    entry.from_fp32 = difference_from_fp32(runner, model, *loaded);
  entry.fallback_nodes = loaded->plan->fallback_nodes();  // free sizes are known since the first run only
  return loaded;
}

}  // namespace mlopt::cli
