#include "cli/verb/plans.h"

#include "cli/backends.h"
#include "cli/runner.h"

namespace mlopt::cli {

Plans::Plans(const Model& source, const Model& result, const Session& session)
    : source_model_(source),
      result_model_(result),
      common_(session.common),
      device_(common_.device.empty() ? default_device() : common_.device) {}

Executable& Plans::source() { return compiled(source_model_, source_); }
Executable& Plans::result() { return compiled(result_model_, result_); }

Executable& Plans::compiled(const Model& model, std::unique_ptr<Executable>& plan) {
  if (!backend_) backend_ = open_backend(device_);
  if (!plan) plan = make_preparing_runner(*backend_, common_).compile(model);
  return *plan;
}

}  // namespace mlopt::cli
