#include "core/calib/calibrate.h"

#include <algorithm>

#include "core/base/error.h"

namespace mlopt {

Calibration calibrate(Backend& backend, const Model& model, const std::vector<std::string>& values, const Dataset& data,
                      const CalibrationLimits& limits, int threads,
                      const std::function<void(int64_t, int64_t)>& progress) {
  const int64_t total = std::min(data.size(), limits.samples);
  if (total <= 0) input_error("there are no calibration samples", "--data", "give data with at least one sample");
  CompileOptions options;
  options.threads = threads;
  options.taps = values;
  const auto plan = backend.compile(model, options);
  Calibration found;
  RunHooks hooks;
  hooks.on_tap = [&](std::string_view name, const Datum& value) {
    if (value.is_tensor()) found.values[std::string(name)].see(value.tensor());
  };
  const int64_t step = data.batch_size() > 0 ? data.batch_size() : limits.batch;
  for (int64_t first = 0; first < total; first += step) {
    const int64_t count = std::min(step, data.batch_size() > 0 ? data.size() - first : total - first);
    if (count < data.batch_size()) break;  // a model of fixed batch cannot run the rest
    plan->run(data.batch(first, count).inputs, hooks);
    found.samples += count;
    if (progress) progress(found.samples, total);
  }
  return found;
}

}  // namespace mlopt
