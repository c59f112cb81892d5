#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mlopt {

/// NumPy's fixed-width text (code points of 4 bytes, padded with zeros) as UTF-8.
std::string utf8_from_ucs4(std::span<const std::byte> text, bool big_endian);
/// UTF-8 as little-endian code points; a byte that is not UTF-8 stands for the code point of its value.
std::u32string ucs4_from_utf8(std::string_view text);

}  // namespace mlopt
