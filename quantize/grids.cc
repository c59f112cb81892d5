#include "quantize/grids.h"

#include <fmt/core.h>

#include "core/calib/calibration_file.h"
#include "core/data/spread.h"
#include "quantize/masked_scores.h"

namespace mlopt::quantize {

namespace {

using Progress = std::function<void(int64_t done, int64_t total)>;

/// From the cache, or by running the model, on all parts together. Only one process looks into the cache: others could
/// not know what it finds.
Calibration seen_by(const Model& model, const std::vector<std::string>& values, const Runner& runner,
                    const Dataset& data, const CalibrationMeans& means, bool in_bins, const Progress& progress,
                    bool& cached) {
  const bool keeps = !means.cache.empty(), shared = means.parts > 1;
  const std::string key = keeps || shared ? calibration_key(model, values, data, runner.backend.name()) : "";
  if (keeps && !shared)
    if (std::optional<Calibration> found = load_calibration(means.cache, key)) {
      cached = true;
      return std::move(*found);
    }
  Calibration seen =
      calibrate(runner.backend, model, values, data, {data.size(), 1, in_bins || keeps, means.part, means.parts},
                runner.options.threads, progress);
  if (shared) seen = means.combine(seen, key);
  if (keeps) save_calibration(means.cache, key, seen);
  return seen;
}

}  // namespace

Grids calibrated_grids(const Model& model, const Plan& plan, const Spec& spec, const Runner& runner,
                       const Dataset& data, int64_t samples, const CalibrationMeans& means,
                       const std::function<void(int64_t done, int64_t total)>& progress) {
  std::vector<const Value*> values;
  std::vector<std::string> owners;
  for (Value* v : plan.values) {
    if (plan.owner(v) != v) continue;
    values.push_back(v);
    owners.push_back(v->name);
  }
  const auto some = spread(data, samples);
  Grids found;
  const bool in_bins = spec.calibration.kind != RangeMethod::Kind::kMinMax;
  const Calibration seen = seen_by(model, owners, runner, *some, means, in_bins, progress, found.cached);
  found.samples = seen.samples;
  const auto warn = [&](const std::string& name, const char* what) {
    found.warnings.push_back(fmt::format("the value '{}' {}: leave its layer out with --skip", name, what));
  };
  for (const Value* value : values) {
    const std::string& name = value->name;
    const auto it = seen.values.find(name);
    const Histogram counts = it == seen.values.end() ? Histogram() : it->second;
    const auto masked = masked_scores_range(*value, plan, seen, spec);
    if (counts.count() == 0)
      warn(name, "has no finite number in the data");
    else if (counts.nonfinite() > 0 && !masked)
      warn(name, "holds infinities or NaN, which no integer represents");
    const Range range = masked ? *masked : choose_range(counts, spec.calibration, 1 << spec.activation_bits);
    const Grid& grid = found.grids[name] = activation_grid(range, spec.symmetric, spec.activation_bits);
    Coverage& coverage = found.coverage[name] = coverage_of(counts, grid);
    if (masked || !in_bins) coverage.clipped = 0;  // what the mask hides is meant to be held down; minmax clips nothing
  }
  return found;
}

}  // namespace mlopt::quantize
