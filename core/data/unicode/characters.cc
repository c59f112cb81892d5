#include "core/data/unicode/characters.h"

#include "core/data/unicode/tables.h"

namespace mlopt::unicode {

CharClass class_of(char32_t c) {
  const ClassRange* range = find_range(class_ranges(), c);
  return range ? range->kind : CharClass::kOther;
}

char32_t lower(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  const LowerRange* range = find_range(lower_ranges(), c);
  if (!range || (c - range->first) % static_cast<char32_t>(range->step) != 0) return c;
  return static_cast<char32_t>(static_cast<int>(c) + range->delta);
}

}  // namespace mlopt::unicode
