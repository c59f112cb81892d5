#include "core/calib/calibrate.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/tensor/finite.h"

namespace mlopt {
namespace {

/// Which samples are run together.
struct Chunk {
  int64_t first, count;
};

/// The first samples, in order; those that do not fill a batch of fixed size are left out.
std::vector<Chunk> chunks_of(const Dataset& data, const CalibrationLimits& limits) {
  const int64_t fixed = data.batch_size(), size = data.size(), wanted = std::min(size, limits.samples);
  if (wanted <= 0) input_error("there are no calibration samples", "--data", "give data with at least one sample");
  if (fixed > size)
    input_error(fmt::format("{} calibration samples are fewer than the {} that the model takes at once", size, fixed),
                "--data", "give more samples, or a model whose first dimension is free");
  const int64_t step = fixed > 0 ? fixed : std::max<int64_t>(1, limits.batch);
  std::vector<Chunk> chunks;
  for (int64_t first = 0; first < wanted && first + fixed <= size; first += step)
    chunks.push_back({first, fixed > 0 ? fixed : std::min(step, wanted - first)});
  std::vector<Chunk> mine;
  for (auto i = static_cast<size_t>(limits.part); i < chunks.size(); i += static_cast<size_t>(limits.parts))
    mine.push_back(chunks[i]);
  return mine;
}

/// Names the first sample of the chunk that alone gives numbers which are not finite.
[[noreturn]] void refuse(const Dataset& data, const Chunk& chunk, const std::string& input, size_t index) {
  int64_t sample = chunk.first;
  for (; data.batch_size() == 0 && sample + 1 < chunk.first + chunk.count; ++sample)
    if (!is_finite(data.batch(sample, 1).inputs[index].tensor())) break;
  input_error(fmt::format("the numbers for '{}' are not all finite", input), data.name_of(sample),
              "remove the sample: a range cannot be found from NaN or infinity");
}

void check(const Dataset& data, const Chunk& chunk, const Batch& batch, const std::vector<std::string>& inputs) {
  for (size_t i = 0; i < batch.inputs.size(); ++i)
    if (batch.inputs[i].is_tensor() && !is_finite(batch.inputs[i].tensor())) refuse(data, chunk, inputs.at(i), i);
}

}  // namespace

Calibration calibrate(Backend& backend, const Model& model, const std::vector<std::string>& values, const Dataset& data,
                      const CalibrationLimits& limits, int threads,
                      const std::function<void(int64_t, int64_t)>& progress) {
  const std::vector<Chunk> chunks = chunks_of(data, limits);
  int64_t total = 0;
  for (const Chunk& chunk : chunks) total += chunk.count;
  CompileOptions options;
  options.threads = threads;
  options.taps = values;
  options.taps_unordered = true;  // they are counted
  const auto plan = backend.compile(model, options);
  Calibration found;
  RunHooks hooks;
  hooks.on_tap = [&](std::string_view name, const Datum& value) {
    if (value.is_tensor()) found.values[std::string(name)].see(value.tensor(), limits.in_bins);
  };
  for (const Chunk& chunk : chunks) {
    const Batch batch = data.batch(chunk.first, chunk.count);
    check(data, chunk, batch, plan->input_names());
    plan->run(batch.inputs, hooks);
    found.samples += chunk.count;
    if (progress) progress(found.samples, total);
  }
  return found;
}

}  // namespace mlopt
