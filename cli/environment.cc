#include "cli/environment.h"

#include "cli/backends.h"
#include "cli/version.h"
#include "core/measure/machine.h"

namespace mlopt::cli {

Json environment_json(int threads) {
  const Machine machine = describe_machine();
  Json libraries = Json::object({{"mlopt", version()}});
  for (const auto& [library, its_version] : library_versions()) libraries[library] = its_version;
  return Json::object({{"cpu", machine.cpu},
                       {"features", machine.features},
                       {"logical_cpus", machine.logical_cpus},
                       {"usable_cpus", machine.usable_cpus},
                       {"threads", threads},
                       {"governor", machine.governor},
                       {"turbo", machine.turbo},
                       {"virtual_machine", machine.virtual_machine},
                       {"memory_bytes", machine.memory_bytes},
                       {"kernel", machine.kernel},
                       {"libraries", std::move(libraries)}});
}

bool same_machine(const Json& earlier, const Json& now) {
  for (const char* key : {"cpu", "features", "threads"}) {
    const Json *a = earlier.find(key), *b = now.find(key);
    if (!a || !b || a->dump() != b->dump()) return false;
  }
  return true;
}

}  // namespace mlopt::cli
