// A plugin that offers nothing: it proves that plugins are found, checked and opened.

#include "core/exec/plugin.h"

#include "mlopt_build.h"

namespace {

constexpr mlopt::Plugin kPlugin{.build_id = MLOPT_BUILD_ID};

}  // namespace

extern "C" MLOPT_API const mlopt::Plugin* mlopt_plugin() { return &kPlugin; }
