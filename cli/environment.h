#pragma once
#include "core/report/json.h"

namespace mlopt::cli {

/// The machine and the libraries, as every report that depends on them says them.
Json environment_json(int threads);

}  // namespace mlopt::cli
