#pragma once
#include "core/report/json.h"

namespace mlopt::cli {

/// The machine and the libraries, as every report that depends on them says them.
Json environment_json(int threads);

/// Are figures of two environments comparable? On the same processor with the same number of threads they are.
bool same_machine(const Json& earlier, const Json& now);

}  // namespace mlopt::cli
