#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mlopt::unicode {

constexpr char32_t kReplacement = 0xFFFD;

struct Decoded {
  char32_t character = kReplacement;
  size_t bytes = 1;
  bool valid = false;  ///< false: kReplacement for one byte that begins no well-formed character
};
/// The first character of `text`, which is not empty. Overlong forms and surrogates are not well-formed.
Decoded first_character(std::string_view text);

std::u32string decode_utf8(std::string_view text);
/// The same, but a byte that begins no well-formed character stands for the code point of its value.
std::u32string code_points(std::string_view text);
void append_utf8(std::string& out, char32_t c);
std::string encode_utf8(std::u32string_view text);
bool is_utf8(std::string_view text);

}  // namespace mlopt::unicode
