#include "core/data/unicode/utf8.h"

namespace mlopt::unicode {

Decoded first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  const size_t bytes = (lead & 0xE0) == 0xC0 ? 2 : (lead & 0xF0) == 0xE0 ? 3 : (lead & 0xF8) == 0xF0 ? 4 : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  char32_t c = lead & (0xFFU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return {};
    c = c << 6 | (byte & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (c < kLeast[bytes] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return {};
  return {c, bytes, true};
}

namespace {

/// All characters, and invalid(byte) of a byte that begins none.
template <class Invalid>
std::u32string decoded(std::string_view text, const Invalid& invalid) {
  std::u32string out;
  while (!text.empty()) {
    const Decoded next = first_character(text);
    out += next.valid ? next.character : invalid(static_cast<unsigned char>(text[0]));
    text.remove_prefix(next.bytes);
  }
  return out;
}

}  // namespace

std::u32string decode_utf8(std::string_view text) {
  return decoded(text, [](char32_t) { return kReplacement; });
}

std::u32string code_points(std::string_view text) {
  return decoded(text, [](char32_t byte) { return byte; });
}

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  out += static_cast<char>((0xF00U >> (more + 1) & 0xF0) | c >> (6 * more));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (c >> (6 * i) & 0x3F));
}

std::string encode_utf8(std::u32string_view text) {
  std::string out;
  for (const char32_t c : text) append_utf8(out, c);
  return out;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Decoded next = first_character(text);
    if (!next.valid) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

}  // namespace mlopt::unicode
