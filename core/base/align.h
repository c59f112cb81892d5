#pragma once
#include <cstddef>

namespace mlopt {

/// Of buffers: a cache line, and the widest vector.
inline constexpr size_t kAlignment = 64;

/// `bytes` rounded up to whole cache lines.
constexpr size_t aligned_size(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace mlopt
