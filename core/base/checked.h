#pragma once
#include <cstdint>
#include <optional>

namespace mlopt {

/// a * b for non-negative numbers, or nothing when it does not fit.
inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// a / b truncated toward zero, or nothing for b = 0 and where the quotient does not fit.
inline std::optional<int64_t> checked_div(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
  return a / b;
}

}  // namespace mlopt
