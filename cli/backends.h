#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exec/backend.h"

namespace mlopt::cli {

/// The backend that `--device` names ("reference", "cpu", "gpu:1", "gpu:1+cpu+tune"). Throws Error{kUsage} for an
/// unknown name, and Error{kUnsupported}, with what is missing, for one that this machine or build lacks.
std::unique_ptr<Backend> open_backend(const std::string& device);

/// Throws Error{kUsage}, with a suggestion, for a list ("cpu,gpu:1") with a name that no device has.
void require_device_names(const std::string& devices);
/// The list with "+cpu" behind each GPU, as open_backend() knows it, where `fallback` is "cpu". Throws Error{kUsage}
/// for another one, and where the list has no GPU.
std::string with_fallback(const std::string& devices, const std::string& fallback);

/// The same with "+tune", which has algorithms timed, where `autotune`.
std::string with_autotune(const std::string& devices, bool autotune);
/// The number of the GPU that a device is; nothing where it is none.
std::optional<int> gpu_index(const std::string& device);

/// What runs models when --device is not given.
std::string default_device();
/// Names and versions of the libraries that the devices of this build use.
std::vector<std::pair<std::string, std::string>> library_versions();
/// The devices that plugins may add ("gpu").
std::vector<std::string> plugin_device_names();

/// The devices of this build, the default first.
std::vector<std::string> device_names();

}  // namespace mlopt::cli
