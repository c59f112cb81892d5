#pragma once
#include <cstdint>
#include <memory>

#include "core/exec/backend.h"

namespace mlopt {

/// A backend that runs models whose constants take more than `bytes` part by part, and compiles each part when it is
/// its turn, so that no more than a part's weights are in memory in whatever form the backend packs them in. The values
/// are those of that backend as far as what it fuses does not lie across parts. Slow: not for measuring time. Models
/// with state are run whole.
std::unique_ptr<Backend> in_parts(std::unique_ptr<Backend> backend, int64_t bytes);

}  // namespace mlopt
