// What the program asks the plugin for.

#include "core/exec/plugin.h"

#include "backends/gpu/interface.h"
#include "mlopt_build.h"

extern "C" MLOPT_API const mlopt::Plugin* mlopt_plugin() {
  static const mlopt::Plugin plugin{.build_id = MLOPT_BUILD_ID, .gpu = &mlopt::gpu::gpu_interface()};
  return &plugin;
}
