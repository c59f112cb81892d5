#include "core/base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <tuple>

namespace mlopt {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  if (text.empty()) return pieces;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string_view::npos; begin = end + 1)
    pieces.emplace_back(text.substr(begin, end - begin));
  pieces.emplace_back(text.substr(begin));
  return pieces;
}

std::string join(std::span<const std::string> pieces, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i) text += separator;
    text += pieces[i];
  }
  return text;
}

std::string_view trim(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_bytes(std::string_view text) {
  if (text.ends_with("iB"))
    text.remove_suffix(2);
  else if (text.ends_with("B"))
    text.remove_suffix(1);
  double unit = 1;
  constexpr std::string_view kUnits = "KMGT";
  if (!text.empty()) {
    const auto at = kUnits.find(text.back() & ~0x20);
    if (at != std::string_view::npos) {
      unit = std::pow(1024.0, static_cast<double>(at + 1));
      text.remove_suffix(1);
    }
  }
  const auto number = parse_double(text);
  if (!number || !(*number >= 0) || *number * unit > 9e18) return std::nullopt;
  return static_cast<int64_t>(*number * unit);
}

std::string format_bytes(double bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) bytes /= 1024, ++unit;
  return unit == 0 ? fmt::format("{:.0f} B", bytes)
                   : fmt::format("{:.{}f} {}", bytes, bytes < 100 ? 1 : 0, kUnits[unit]);
}

namespace {

/// Matches one character against the set that starts after '['; gives the rest of the pattern, or nothing for a bad
/// set.
std::optional<std::string_view> match_set(std::string_view set, char c, bool& hit) {
  const bool inverted = !set.empty() && (set[0] == '!' || set[0] == '^');
  size_t i = inverted ? 1 : 0;
  hit = false;
  for (bool first = true; i < set.size() && (first || set[i] != ']'); first = false) {
    const char low = set[i];
    char high = low;
    if (i + 2 < set.size() && set[i + 1] == '-' && set[i + 2] != ']') high = set[i + 2], i += 2;
    hit = hit || (low <= c && c <= high);
    ++i;
  }
  if (i >= set.size()) return std::nullopt;
  hit = hit != inverted;
  return set.substr(i + 1);
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
  if (pattern == text) return true;
  // The position after the last '*' and the text it has eaten so far: on a mismatch it eats one more.
  std::optional<std::pair<std::string_view, std::string_view>> star;
  while (true) {
    if (!pattern.empty() && pattern[0] == '*') {
      pattern.remove_prefix(1);
      star = {pattern, text};
      continue;
    }
    if (pattern.empty() && text.empty()) return true;
    bool ok = false;
    std::string_view rest;
    if (!pattern.empty() && !text.empty()) {
      rest = pattern.substr(1);
      ok = pattern[0] == '?' || pattern[0] == text[0];
      if (pattern[0] == '[') {
        bool hit = false;
        if (const auto after = match_set(rest, text[0], hit)) rest = *after, ok = hit;
      }
    }
    if (ok) {
      pattern = rest;
      text.remove_prefix(1);
    } else if (star && !star->second.empty()) {
      star->second.remove_prefix(1);
      std::tie(pattern, text) = *star;
    } else {
      return false;
    }
  }
}

std::string as_glob(std::string_view text) {
  std::string glob;
  for (const char c : text)
    if (c == '*' || c == '?' || c == '[')
      glob += {'[', c, ']'};
    else
      glob += c;
  return glob;
}

bool glob_any(std::span<const std::string> patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return glob_match(p, text); });
}

namespace {

/// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1), above, before;
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::move(above);
    above = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < least) least = distance, best = &candidate;
  }
  if (!best) return std::nullopt;
  return *best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  if (const auto near = did_you_mean(word, candidates)) return fmt::format("did you mean '{}'?", *near);
  if (candidates.empty()) return "there are none";
  constexpr size_t kShown = 20;
  const auto shown = candidates.subspan(0, std::min(kShown, candidates.size()));
  return "one of " + join(shown, ", ") + (candidates.size() > kShown ? ", ..." : "");
}

}  // namespace mlopt
