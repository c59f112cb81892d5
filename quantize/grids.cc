#include "quantize/grids.h"

#include <fmt/core.h>

#include "core/calib/calibrate.h"
#include "core/data/spread.h"

namespace mlopt::quantize {

Grids calibrated_grids(const Model& model, const Plan& plan, const Spec& spec, const Runner& runner,
                       const Dataset& data, int64_t samples,
                       const std::function<void(int64_t done, int64_t total)>& progress) {
  std::vector<std::string> owners;
  for (Value* v : plan.values)
    if (plan.owner(v) == v) owners.push_back(v->name);
  const auto some = spread(data, samples);
  const Calibration seen =
      calibrate(runner.backend, model, owners, *some, {some->size(), 1}, runner.options.threads, progress);
  Grids found;
  found.samples = seen.samples;
  const auto warn = [&](const std::string& name, const char* what) {
    found.warnings.push_back(fmt::format("the value '{}' {}: leave its layer out with --skip", name, what));
  };
  for (const std::string& name : owners) {
    const auto it = seen.values.find(name);
    const Histogram counts = it == seen.values.end() ? Histogram() : it->second;
    if (counts.count() == 0)
      warn(name, "has no finite number in the data");
    else if (counts.nonfinite() > 0)
      warn(name, "holds infinities or NaN, which no integer represents");
    found.grids[name] = activation_grid(choose_range(counts, spec.calibration, 1 << spec.activation_bits),
                                        spec.symmetric, spec.activation_bits);
  }
  return found;
}

}  // namespace mlopt::quantize
