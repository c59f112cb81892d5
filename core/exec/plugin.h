#pragma once
#include <string>
#include <string_view>

#include "core/base/api.h"

struct MpiInterface;  // core/train/communicators/mpi_interface.h
struct GpuInterface;  // backends/gpu/interface.h

namespace mlopt {

/// What a plugin offers. Plugins are built with the program: nothing here is stable between builds.
struct Plugin {
  const char* build_id;  ///< MLOPT_BUILD_ID of its compilation
  // Null where the plugin has none.
  const MpiInterface* mpi = nullptr;
  const GpuInterface* gpu = nullptr;
};

/// The one function that a plugin exports, extern "C", under the name `mlopt_plugin`.
using PluginEntry = const Plugin* (*)();

/// Opens libmlopt_NAME.so, which lies beside the program, and keeps it open. Throws Error{kUnsupported} when it is
/// missing, when a library that it needs is (naming it), or when its build id is not `build_id`.
const Plugin& load_plugin(const std::string& name, std::string_view build_id);

}  // namespace mlopt
