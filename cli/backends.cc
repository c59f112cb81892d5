#include "cli/backends.h"

#include <fmt/core.h>

#include <iterator>
#include <optional>

#ifdef MLOPT_CPU
#include "backends/cpu/backend.h"
#endif
#include "backends/gpu/backend.h"
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

/// "gpu", "gpu:2" or "gpu:2+cpu": the plugin's name, the device's number, and whether the host may help.
struct PluginDevice {
  std::string plugin;
  int index = 0;
  bool fallback = false;
};

constexpr std::string_view kFallback = "+cpu";

constexpr std::string_view kPluginDevices[] = {"gpu"};

std::optional<PluginDevice> plugin_device(std::string device) {
  const bool fallback = device.ends_with(kFallback);
  if (fallback) device.resize(device.size() - kFallback.size());
  const size_t colon = device.find(':');
  for (const std::string_view name : kPluginDevices) {
    if (device.substr(0, colon) != name) continue;
    if (colon == std::string::npos) return PluginDevice{std::string(name), 0, fallback};
    const auto index = parse_int(device.substr(colon + 1));
    if (!index || *index < 0 || *index > 1023)
      usage_error(fmt::format("'{}' is no device", device), "--device", "for example gpu:0");
    return PluginDevice{std::string(name), static_cast<int>(*index), fallback};
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
    if (!plugin.gpu) unsupported_error("the plugin reaches no GPU", "--device " + device);
    return gpu_backend(*plugin.gpu, wanted->index, {reference::all_kernels(), wanted->fallback, standard_types});
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

std::string with_fallback(const std::string& devices, const std::string& fallback) {
  if (fallback.empty()) return devices;
  if (fallback != "cpu") usage_error(fmt::format("'{}' can take over nothing", fallback), "--fallback", "use cpu");
  std::vector<std::string> names = split(devices, ',');
  bool any = false;
  for (std::string& name : names) {
    if (!plugin_device(name)) continue;
    any = true;
    if (!name.ends_with(kFallback)) name += kFallback;
  }
  if (!any) usage_error("there is nothing to take over from without a GPU", "--fallback", "add --device gpu");
  return join(names, ",");
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
