#include "cli/backends.h"

#include <fmt/core.h>

#include <iterator>
#include <optional>

#ifdef MLOPT_CPU
#include "backends/cpu/backend.h"
#include "backends/cpu/steps.h"
#endif
#include "backends/gpu/backend.h"
#include "backends/gpu/interface.h"
#include "backends/gpu/ranks.h"
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

/// What a GPU has the host compute: constants, and with --fallback cpu what it cannot run itself. Then the CPU
/// backend's kernels come first; constants alone are computed as the reference has them.
std::vector<Kernel> host_kernels([[maybe_unused]] bool fallback) {
  std::vector<Kernel> kernels;
#ifdef MLOPT_CPU
  if (fallback) kernels = cpu_steps();
#endif
  const std::vector<Kernel> others = reference::all_kernels();
  kernels.insert(kernels.end(), others.begin(), others.end());
  return kernels;
}

/// "gpu", "gpu:2" or "gpu:2+cpu+tune": the plugin's name, the device's number, whether the host may help, and whether
/// algorithms are timed.
struct PluginDevice {
  std::string plugin;
  int index = 0;
  bool fallback = false, autotune = false;
};

constexpr std::string_view kFallback = "+cpu", kAutotune = "+tune";

bool take_off(std::string& device, std::string_view suffix) {
  if (!device.ends_with(suffix)) return false;
  device.resize(device.size() - suffix.size());
  return true;
}

constexpr std::string_view kPluginDevices[] = {"gpu"};

std::optional<PluginDevice> plugin_device(std::string device) {
  PluginDevice found;
  found.autotune = take_off(device, kAutotune);
  found.fallback = take_off(device, kFallback);
  const size_t colon = device.find(':');
  for (const std::string_view name : kPluginDevices) {
    if (device.substr(0, colon) != name) continue;
    found.plugin = name;
    if (colon == std::string::npos) return found;
    const auto index = parse_int(device.substr(colon + 1));
    if (!index || *index < 0 || *index > 1023)
      usage_error(fmt::format("'{}' is no device", device), "--device", "for example gpu:0");
    found.index = static_cast<int>(*index);
    return found;
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
    return gpu_backend(*plugin.gpu, wanted->index,
                       {host_kernels(wanted->fallback), wanted->fallback, standard_types, wanted->autotune});
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

namespace {

/// The list with the suffix behind each GPU; throws Error{kUsage} where there is none.
std::string with_suffix(const std::string& devices, std::string_view suffix, const char* none, const char* option) {
  std::vector<std::string> names = split(devices, ',');
  bool any = false;
  for (std::string& name : names) {
    if (!plugin_device(name)) continue;
    any = true;
    if (!name.ends_with(suffix)) name += suffix;
  }
  if (!any) usage_error(none, option, "add --device gpu");
  return join(names, ",");
}

}  // namespace

std::string with_fallback(const std::string& devices, const std::string& fallback) {
  if (fallback.empty()) return devices;
  if (fallback != "cpu") usage_error(fmt::format("'{}' can take over nothing", fallback), "--fallback", "use cpu");
  return with_suffix(devices, kFallback, "there is nothing to take over from without a GPU", "--fallback");
}

std::string with_autotune(const std::string& devices, bool autotune) {
  if (!autotune) return devices;
  return with_suffix(devices, kAutotune, "there are algorithms to choose from on a GPU only", "--autotune");
}

std::string device_of_rank(const std::string& device, const train::Launch& launch) {
  const auto wanted = plugin_device(device);
  if (launch.local_size <= 1 || !wanted || device.find(':') != std::string::npos) return device;
  const Plugin& plugin = load_plugin(wanted->plugin, build_id());
  int count = 0;
  if (!plugin.gpu || plugin.gpu->count(&count) || count < 1) return device;  // what is wrong is said where it is opened
  return fmt::format("{}:{}{}", wanted->plugin, launch.local_rank % count, device.substr(wanted->plugin.size()));
}

std::shared_ptr<train::Communicator> ranks_on(const std::string& device, std::shared_ptr<train::Communicator> ranks) {
  const auto wanted = plugin_device(device);
  if (!wanted || ranks->size() == 1) return ranks;
  return gpu_communicator(std::move(ranks), *load_plugin(wanted->plugin, build_id()).gpu, wanted->index);
}

std::optional<int> gpu_index(const std::string& device) {
  const auto found = plugin_device(device);
  return found ? std::optional(found->index) : std::nullopt;
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
