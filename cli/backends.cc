#include "cli/backends.h"

#include <fmt/core.h>

#ifdef MLOPT_CPU
#include "backends/cpu/backend.h"
#endif
#include "backends/reference/backend.h"
#include "backends/reference/kernels.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

struct BuiltIn {
  std::string_view name;
  std::unique_ptr<Backend> (*make)();
};

#ifdef MLOPT_CPU
std::unique_ptr<Backend> make_cpu() { return cpu_backend(reference::all_kernels()); }
#endif

/// In the order of preference.
constexpr BuiltIn kBuiltIn[] = {
#ifdef MLOPT_CPU
    {"cpu", make_cpu},
#endif
    {"reference", reference_backend},
};

}  // namespace

std::unique_ptr<Backend> open_backend(const std::string& device) {
  if (device.empty()) return kBuiltIn[0].make();
  for (const BuiltIn& entry : kBuiltIn) {
    if (device == entry.name) return entry.make();
  }
  if (device == "cpu") {
    unsupported_error("this build has no CPU backend", "--device cpu",
                      "build with -DMLOPT_CPU=ON, or use --device reference");
  }
  const std::vector<std::string> names = device_names();
  usage_error(fmt::format("unknown device '{}'", device), "--device", suggestion(device, names));
}

std::string default_device() { return std::string(kBuiltIn[0].name); }

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const BuiltIn& entry : kBuiltIn) names.emplace_back(entry.name);
  return names;
}

std::string device_list() {
  const std::vector<std::string> names = device_names();
  return join(names, ", ");
}

}  // namespace mlopt::cli
