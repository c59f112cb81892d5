#include "core/data/npy_text.h"

#include <cstdint>
#include <cstring>

namespace mlopt {
namespace {

void append_utf8(std::string& out, uint32_t c) {
  const auto byte = [](uint32_t v) { return static_cast<char>(v); };
  if (c < 0x80) {
    out += byte(c);
  } else if (c < 0x800) {
    out += {byte(0xc0 | (c >> 6)), byte(0x80 | (c & 63))};
  } else if (c < 0x10000) {
    out += {byte(0xe0 | (c >> 12)), byte(0x80 | ((c >> 6) & 63)), byte(0x80 | (c & 63))};
  } else {
    out += {byte(0xf0 | ((c >> 18) & 7)), byte(0x80 | ((c >> 12) & 63)), byte(0x80 | ((c >> 6) & 63)),
            byte(0x80 | (c & 63))};
  }
}

/// Bytes of the UTF-8 sequence that starts with `lead`; 0 when none does.
size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

}  // namespace

std::string utf8_from_ucs4(std::span<const std::byte> text, bool big_endian) {
  std::string out;
  for (size_t i = 0; i + 4 <= text.size(); i += 4) {
    uint32_t c;
    std::memcpy(&c, text.data() + i, 4);
    if (big_endian) c = __builtin_bswap32(c);
    if (c == 0) break;
    append_utf8(out, c);
  }
  return out;
}

std::u32string ucs4_from_utf8(std::string_view text) {
  std::u32string out;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = sequence_length(lead);
    char32_t c = length > 1 ? lead & (0xff >> (length + 1)) : lead;
    size_t good = 1;
    while (good < length && i + good < text.size() && (static_cast<unsigned char>(text[i + good]) & 0xc0) == 0x80) {
      c = c << 6 | (static_cast<unsigned char>(text[i + good++]) & 0x3f);
    }
    const bool whole = length > 0 && good == length;
    out += whole ? c : static_cast<char32_t>(lead);
    i += whole ? length : 1;
  }
  return out;
}

}  // namespace mlopt
