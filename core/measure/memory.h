#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "core/base/memory.h"

namespace mlopt {

/// The peak of a fresh process that does `work`: a fork of this one, which must not have started threads yet. Nothing
/// when the work fails there.
std::optional<int64_t> peak_memory_of(const std::function<void()>& work);

}  // namespace mlopt
