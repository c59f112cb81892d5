#include <algorithm>

#include "core/data/unicode/tables.h"

namespace mlopt::unicode {
namespace {

constexpr char32_t kIdeographs = 0xF900, kMoreIdeographs = 0x2F800;
// Syllables of Hangul are a leading consonant, a vowel and perhaps a trailing consonant, by their number
// (Unicode 3.12).
constexpr char32_t kSyllables = 0xAC00, kSyllableCount = 11172, kVowels = 21, kTrails = 28;
constexpr char32_t kLead = 0x1100, kVowel = 0x1161, kTrail = 0x11A7;

int order_of(char32_t c) {
  const OrderRange* range = c < 0x1715 ? nullptr : find_range(order_ranges(), c);
  return range ? range->order : 0;
}

/// Text in canonical order: marks of a run without a starting character stand by their class.
class Ordered {
 public:
  void put(char32_t c) {
    if (order_of(c) == 0) start_run();
    text_ += c;
    if (order_of(c) == 0) run_ = text_.size();
  }
  void start_run() {
    if (text_.size() - run_ > 1) {
      std::stable_sort(text_.begin() + static_cast<std::ptrdiff_t>(run_), text_.end(),
                       [](char32_t a, char32_t b) { return order_of(a) < order_of(b); });
    }
    run_ = text_.size();
  }
  std::u32string finish() {
    start_run();
    return std::move(text_);
  }

 private:
  std::u32string text_;
  size_t run_ = 0;
};

void put_syllable(Ordered& out, char32_t index) {
  out.put(kLead + index / (kVowels * kTrails));
  out.put(kVowel + index / kTrails % kVowels);
  if (index % kTrails != 0) out.put(kTrail + index % kTrails);
}

const BaseRange* base_of(char32_t c) {
  const auto ranges = base_ranges();
  auto it = std::upper_bound(ranges.begin(), ranges.end(), c,
                             [](char32_t value, const BaseRange& range) { return value < range.first; });
  if (it == ranges.begin()) return nullptr;
  --it;
  return c - it->first < static_cast<char32_t>(it->count) ? &*it : nullptr;
}

bool put_string(Ordered& out, char32_t c) {
  const auto strings = base_strings();
  const auto it = std::lower_bound(strings.begin(), strings.end(), c,
                                   [](const BaseString& string, char32_t value) { return string.character < value; });
  if (it == strings.end() || it->character != c) return false;
  for (const char32_t base : it->bases) {
    if (base != 0) out.put(base);
  }
  return true;
}

void put_decomposed(Ordered& out, char32_t c) {
  const CharClass kind = class_of(c);
  if (kind == CharClass::kMark) return;
  if (kind == CharClass::kStartingMark) return out.start_run();
  if (c - kSyllables < kSyllableCount) return put_syllable(out, c - kSyllables);
  if (c - kIdeographs < ideographs().size()) return out.put(ideographs()[c - kIdeographs]);
  if (c - kMoreIdeographs < more_ideographs().size()) return out.put(more_ideographs()[c - kMoreIdeographs]);
  if (const BaseRange* range = base_of(c)) return out.put(range->base);
  if (!put_string(out, c)) out.put(c);
}

}  // namespace

std::u32string without_accents(std::u32string_view text) {
  Ordered out;
  for (const char32_t c : text) {
    if (c < 0xC0) {
      out.put(c);
    } else {
      put_decomposed(out, c);
    }
  }
  return out.finish();
}

}  // namespace mlopt::unicode
