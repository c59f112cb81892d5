#include "cli/backends.h"

#include <fmt/core.h>

#include <iterator>
#include <optional>

#ifdef MLOPT_CPU
#include "backends/cpu/backend.h"
#endif
#include "backends/reference/backend.h"
#include "backends/reference/kernels.h"
#include "cli/version.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/plugin.h"
#include "core/onnx/infer.h"

namespace mlopt::cli {
namespace {

struct BuiltIn {
  std::string_view name;
  std::unique_ptr<Backend> (*make)();
};

#ifdef MLOPT_CPU
std::unique_ptr<Backend> make_cpu() { return cpu_backend(reference::all_kernels(), standard_types); }
#endif

/// In the order of preference.
constexpr BuiltIn kBuiltIn[] = {
#ifdef MLOPT_CPU
    {"cpu", make_cpu},
#endif
    {"reference", reference_backend},
};

/// "gpu" or "gpu:2": the plugin's name and the device's number.
struct PluginDevice {
  std::string plugin;
  int index = 0;
};

constexpr std::string_view kPluginDevices[] = {"gpu"};

std::optional<PluginDevice> plugin_device(const std::string& device) {
  const size_t colon = device.find(':');
  for (const std::string_view name : kPluginDevices) {
    if (device.substr(0, colon) != name) continue;
    if (colon == std::string::npos) return PluginDevice{std::string(name), 0};
    const auto index = parse_int(device.substr(colon + 1));
    if (!index || *index < 0 || *index > 1023)
      usage_error(fmt::format("'{}' is no device", device), "--device", "for example gpu:0");
    return PluginDevice{std::string(name), static_cast<int>(*index)};
  }
  return std::nullopt;
}

[[noreturn]] void reject(const std::string& device) {
  std::vector<std::string> names = {"cpu", "reference"};
  names.insert(names.end(), std::begin(kPluginDevices), std::end(kPluginDevices));
  usage_error(fmt::format("unknown device '{}'", device), "--device", suggestion(device, names));
}

}  // namespace

std::unique_ptr<Backend> open_backend(const std::string& device) {
  if (device.empty()) return kBuiltIn[0].make();
  for (const BuiltIn& entry : kBuiltIn) {
    if (device == entry.name) return entry.make();
  }
  if (const auto wanted = plugin_device(device)) {
    const Plugin& plugin = load_plugin(wanted->plugin, build_id());
    if (!plugin.open_backend) unsupported_error("the plugin has no backend", "--device " + device);
    return plugin.open_backend(wanted->index);
  }
  if (device == "cpu") {
    unsupported_error("this build has no CPU backend", "--device cpu",
                      "build with -DMLOPT_CPU=ON, or use --device reference");
  }
  reject(device);
}

void require_device_names(const std::string& devices) {
  for (const std::string& device : split(devices, ',')) {
    if (device != "cpu" && device != "reference" && !plugin_device(device)) reject(device);
  }
}

std::vector<std::pair<std::string, std::string>> library_versions() {
#ifdef MLOPT_CPU
  return {{"oneDNN", cpu_library_version()}};
#else
  return {};
#endif
}

std::vector<std::string> plugin_device_names() { return {std::begin(kPluginDevices), std::end(kPluginDevices)}; }

std::string default_device() { return std::string(kBuiltIn[0].name); }

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const BuiltIn& entry : kBuiltIn) names.emplace_back(entry.name);
  return names;
}

}  // namespace mlopt::cli
