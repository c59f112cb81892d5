#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exec/backend.h"
#include "core/train/communicator.h"
#include "core/train/launch.h"

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
/// The device for one of several ranks of a machine: "gpu" without a number becomes that of the GPU that is its turn.
std::string device_of_rank(const std::string& device, const train::Launch& launch);
/// The ranks, which add up gradients on the device where it has a way to.
std::shared_ptr<train::Communicator> ranks_on(const std::string& device, std::shared_ptr<train::Communicator> ranks);
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
