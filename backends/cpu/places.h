#pragma once
#include <fmt/core.h>

#include <cstdint>

#include "core/base/error.h"

namespace mlopt::cpu {

/// Where on an axis an index lies, which counts from the end where negative. Throws Error{kBadInput} for one beside it.
inline int64_t place_on_axis(int64_t index, int64_t length) {
  const int64_t place = index < 0 ? index + length : index;
  if (place < 0 || place >= length)
    input_error(fmt::format("index {} is outside an axis of {} elements", index, length));
  return place;
}

}  // namespace mlopt::cpu
