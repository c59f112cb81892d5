#pragma once
#include <cstdint>
#include <string>

namespace mlopt::unicode {

enum class CharClass : uint8_t {
  kOther,         ///< letters, digits, symbols, and what Unicode does not know yet
  kControl,       ///< controls, format characters, private use, U+FFFD
  kSpace,         ///< separators, tab and line ends
  kPunctuation,   ///< also the symbols of ASCII
  kMark,          ///< marks that take no space (category Mn)
  kStartingMark,  ///< those of them across which canonical ordering moves nothing
};

/// As Unicode 14 has it.
CharClass class_of(char32_t c);
/// In lower case, character by character: no final sigma, and U+0130 becomes i.
char32_t lower(char32_t c);
/// The canonical decomposition (NFD) without the marks that take no space: letters without their accents.
std::u32string without_accents(std::u32string_view text);

}  // namespace mlopt::unicode
