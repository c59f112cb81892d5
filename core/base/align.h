#pragma once
#include <cstddef>
#include <cstdint>

namespace mlopt {

/// Of buffers: a cache line, and the widest vector.
inline constexpr size_t kAlignment = 64;

/// Of numbers that are not negative.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

/// `bytes` rounded up to whole cache lines.
constexpr size_t aligned_size(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace mlopt
