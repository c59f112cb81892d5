#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/backend.h"

namespace mlopt::cli {

/// The backend that `--device` names ("reference", "cpu", "gpu:1"). Throws Error{kUsage} for an unknown name, and
/// Error{kUnsupported}, with what is missing, for one that this machine or build lacks.
std::unique_ptr<Backend> open_backend(const std::string& device);

/// What runs models when --device is not given.
std::string default_device();
/// Names of all devices, the default first; "cpu, reference".
std::vector<std::string> device_names();
std::string device_list();

}  // namespace mlopt::cli
