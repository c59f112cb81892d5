#include "graphopt/pipelines.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

void require_known(const std::vector<std::string>& globs, const std::vector<const Pass*>& all) {
  std::vector<std::string> names;
  for (const Pass* pass : all) names.emplace_back(pass->name);
  for (const std::string& glob : globs)
    if (std::none_of(names.begin(), names.end(), [&](const std::string& name) { return glob_match(glob, name); }))
      usage_error(fmt::format("no pass is called '{}'", glob), {}, suggestion(glob, names));
}

}  // namespace

std::map<std::string, PassTally> fuse(Model& model, const PassContext& context, const PassSelection& selection) {
  const std::vector<const Pass*> all = all_passes();
  require_known(selection.passes, all);
  require_known(selection.no_passes, all);
  std::vector<const Pass*> chosen;
  for (const Pass* pass : all)
    if ((selection.passes.empty() || glob_any(selection.passes, pass->name)) &&
        !glob_any(selection.no_passes, pass->name))
      chosen.push_back(pass);
  infer(model, context.standard_types);
  return run_passes(model, chosen, context);
}

void prepare(Model& model, const PassContext& context) { fuse(model, context); }

}  // namespace mlopt::graphopt
