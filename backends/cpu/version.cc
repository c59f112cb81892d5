#include <fmt/core.h>

#include <dnnl.hpp>

#include "backends/cpu/backend.h"

namespace mlopt {

std::string cpu_library_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

}  // namespace mlopt
