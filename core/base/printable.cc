#include "core/base/printable.h"

#include <fmt/core.h>

#include <array>
#include <cstdint>

namespace mlopt {
namespace {

struct Form {
  uint8_t mask, lead;  // of the first byte
  uint32_t least;      // code point that needs so many bytes
};
constexpr std::array<Form, 4> kForms = {
    {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}}};

/// The bytes of the printable character that `text` begins with; 0 where it begins with something else.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  size_t more = 0;
  while (more < kForms.size() && (byte(0) & kForms[more].mask) != kForms[more].lead) ++more;
  if (more == kForms.size() || more >= text.size()) return 0;
  uint32_t code = byte(0) & static_cast<uint8_t>(~kForms[more].mask);
  for (size_t i = 1; i <= more; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0), surrogate = code >= 0xD800 && code < 0xE000;
  return control || surrogate || code < kForms[more].least || code > 0x10FFFF ? 0 : more + 1;
}

std::string escaped(char c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  return fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = character_length(text);
    out += length ? std::string(text.substr(0, length)) : escaped(text[0]);
    text.remove_prefix(length ? length : 1);
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    out += printable(text.substr(0, end)) + '\n';
  return out + printable(text);
}

}  // namespace mlopt
