#include "backends/reference/regex.h"

#include <algorithm>

#include "backends/reference/regex_parser.h"
#include "core/data/unicode/utf8.h"

namespace mlopt::reference {

bool is_word_code(uint32_t c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

Regex::Regex(std::string_view pattern) : start_(parse_regex(pattern, states_)) {}

/// Adds to `list` the states that read a character (or match) and are reached from `state` without reading one.
void Regex::follow(int from, size_t place, const std::u32string& text, std::vector<int>& list,
                   std::vector<size_t>& seen) const {
  std::vector<int> open{from};
  while (!open.empty()) {
    const int index = open.back();
    open.pop_back();
    if (seen[static_cast<size_t>(index)] == place + 1) continue;
    seen[static_cast<size_t>(index)] = place + 1;
    const RegexState& state = states_[static_cast<size_t>(index)];
    const bool before = place > 0 && is_word_code(text[place - 1]),
               after = place < text.size() && is_word_code(text[place]);
    bool passes = true;
    switch (state.kind) {
      case RegexState::Kind::kSet:
      case RegexState::Kind::kMatch:
        list.push_back(index);
        continue;
      case RegexState::Kind::kSplit:
        open.push_back(state.other);
        break;
      case RegexState::Kind::kBegin:
        passes = place == 0;
        break;
      case RegexState::Kind::kEnd:
        passes = place == text.size();
        break;
      case RegexState::Kind::kWordEdge:
        passes = before != after;
        break;
      case RegexState::Kind::kNotWordEdge:
        passes = before == after;
        break;
    }
    if (passes) open.push_back(state.next);
  }
}

bool Regex::full_match(std::string_view text) const {
  const std::u32string codes = unicode::code_points(text);
  std::vector<int> now, then;
  std::vector<size_t> seen(states_.size(), 0);
  follow(start_, 0, codes, now, seen);
  for (size_t place = 0; place < codes.size() && !now.empty(); ++place) {
    then.clear();
    for (const int index : now) {
      const RegexState& state = states_[static_cast<size_t>(index)];
      const bool inside = std::any_of(state.set.begin(), state.set.end(), [&](const RegexState::Range& range) {
        return codes[place] >= range.first && codes[place] <= range.second;
      });
      if (state.kind == RegexState::Kind::kSet && inside != state.negated)
        follow(state.next, place + 1, codes, then, seen);
    }
    std::swap(now, then);
  }
  return std::any_of(now.begin(), now.end(),
                     [&](int i) { return states_[static_cast<size_t>(i)].kind == RegexState::Kind::kMatch; });
}

}  // namespace mlopt::reference
