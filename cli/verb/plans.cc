#include "cli/verb/plans.h"

#include <chrono>

#include "cli/backends.h"
#include "cli/large.h"
#include "cli/runner.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cli {

Plans::Plans(const Model& source, const Model& result, const Session& session, bool in_parts)
    : common_(session.common),
      device_(common_.device.empty() ? default_device() : common_.device),
      in_parts_(in_parts && runs_in_parts(device_, source)),
      weights_(std::make_shared<WeightCache>()),
      source_{&source},
      result_{&result} {}

Plans::Compiled& Plans::compiled(Compiled& one) {
  if (one.plan) return one;
  if (!backend_) backend_ = in_parts_ ? open_backend_for(device_, *source_.model) : open_backend(device_);
  const auto start = std::chrono::steady_clock::now();
  Runner runner = make_preparing_runner(*backend_, common_);
  runner.options.weights = weights_;  // a rewrite leaves most of them as they are
  one.plan = runner.compile(*one.model);
  one.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return one;
}

}  // namespace mlopt::cli
