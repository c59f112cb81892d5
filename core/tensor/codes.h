#pragma once
#include <cstdint>

namespace mlopt {

/// Code i of a run of codes of 2, 4 or 8 bits, the low bits of each byte first.
inline uint8_t code_at(const uint8_t* bytes, int width, int64_t i) {
  const int shift = width == 8 ? 0 : width == 4 ? 1 : 2;  // a byte holds 2^shift codes; divisions would be slow
  const auto in_byte = static_cast<int>(i & ((1 << shift) - 1));
  return static_cast<uint8_t>(bytes[i >> shift] >> (width * in_byte) & ((1 << width) - 1));
}

}  // namespace mlopt
