#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

namespace mlopt {

/// A C++ number as another type. A float to an integer: truncated, then wrapped; out of range and NaN do what they do
/// on x86 for the 64 bit type.
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (value >= -9.2233720368547758e18 && value < 9.2233720368547758e18)
      return static_cast<To>(static_cast<int64_t>(value));
    if (std::is_same_v<To, uint64_t> && value > 0 && value < 1.8446744073709552e19)
      return static_cast<To>(static_cast<uint64_t>(value));
    return static_cast<To>(std::numeric_limits<int64_t>::min());
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace mlopt
