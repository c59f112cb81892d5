#include "cli/version.h"

#include "mlopt_build.h"

namespace mlopt::cli {

std::string_view version() { return MLOPT_VERSION; }
std::string_view build_id() { return MLOPT_BUILD_ID; }

}  // namespace mlopt::cli
