#include "core/data/spec_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace mlopt {
namespace {

constexpr int64_t kMaxSide = 16384;  // pixels
constexpr int64_t kMaxTokens = 1 << 24;

using Text = std::optional<std::string>;

constexpr unsigned bit(DataKind kind) { return 1U << static_cast<int>(kind); }
constexpr unsigned kImages = bit(DataKind::kImages), kCsv = bit(DataKind::kCsv), kBytes = bit(DataKind::kBytes);
constexpr unsigned kText = bit(DataKind::kText);
constexpr unsigned kPictures = kImages | bit(DataKind::kIdx);
constexpr unsigned kNumbers = kPictures | kCsv | bit(DataKind::kArrays);
constexpr unsigned kSamples = kNumbers | kBytes | kText;

std::optional<int64_t> count(std::string_view text, int64_t low, int64_t high) {
  const auto value = parse_int(text);
  return value && *value >= low && *value <= high ? value : std::nullopt;
}

std::optional<double> finite(std::string_view text) {
  const auto value = parse_double(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

bool set_count(std::optional<int64_t>& into, std::string_view value, int64_t most = INT64_MAX) {
  into = count(value, 1, most);
  return into.has_value();
}

bool set_text(std::string& into, std::string_view value) {
  into = value;
  return !value.empty();
}

Text text_or_nothing(const std::string& text) { return text.empty() ? Text() : text; }
Text number_text(const std::optional<int64_t>& value) { return value ? std::to_string(*value) : Text(); }
Text flag_text(bool set) { return set ? Text("") : Text(); }

bool set_numbers(std::vector<double>& into, std::string_view value) {
  into.clear();
  for (const std::string& piece : split(value, '/')) {
    const auto number = finite(piece);
    if (!number) return false;
    into.push_back(*number);
  }
  return !into.empty();
}

Text numbers_text(const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double v : values) texts.push_back(fmt::format("{}", v));
  return text_or_nothing(join(texts, "/"));
}

bool set_resize(DataSpec& spec, std::string_view value) {
  const std::vector<std::string> sides = split(value, 'x');
  if (sides.empty() || sides.size() > 2) return false;
  const auto height = count(sides[0], 1, kMaxSide);
  const auto width = sides.size() == 2 ? count(sides[1], 1, kMaxSide) : std::optional<int64_t>(0);
  if (!height || !width) return false;
  spec.transforms.resize = {*height, *width};
  return true;
}

Text resize_text(const DataSpec& spec) {
  if (!spec.transforms.resize) return {};
  const auto [height, width] = *spec.transforms.resize;
  return width == 0 ? fmt::format("{}", height) : fmt::format("{}x{}", height, width);
}

bool set_layout(DataSpec& spec, std::string_view value) {
  spec.transforms.layout = value;
  return value == "nchw" || value == "nhwc";
}

bool set_split(DataSpec& spec, std::string_view value) {
  const std::vector<std::string> ends = split(value, ':');
  if (ends.size() != 2) return false;
  const auto a = finite(ends[0]), b = finite(ends[1]);
  if (!a || !b || *a < 0 || *b <= *a || *b > 1e15) return false;
  const bool shares = *b <= 1;
  if (!shares && (*a != std::floor(*a) || *b != std::floor(*b))) return false;
  spec.selection.split = {*a, *b};
  return true;
}

Text split_text(const DataSpec& spec) {
  if (!spec.selection.split) return {};
  return fmt::format("{}:{}", (*spec.selection.split)[0], (*spec.selection.split)[1]);
}

/// One of `words`.
bool set_word(std::string& into, std::string_view value, std::initializer_list<std::string_view> words) {
  into = value;
  return std::find(words.begin(), words.end(), value) != words.end();
}

bool set_columns(std::vector<std::string>& into, std::string_view value) {
  into = split(value, '/');
  return !into.empty();
}

bool set_ignore(DataSpec& spec, std::string_view value) { return set_columns(spec.ignore, value); }

const SpecOption kOptions[] = {
    {"labels", "FILE", kImages, [](DataSpec& s, std::string_view v) { return set_text(s.labels, v); },
     [](const DataSpec& s) { return s.kind == DataKind::kImages ? text_or_nothing(s.labels) : Text(); }},
    {"text", "COLUMN/COLUMN", kText, [](DataSpec& s, std::string_view v) { return set_columns(s.text_columns, v); },
     [](const DataSpec& s) { return text_or_nothing(join(s.text_columns, "/")); }},
    {"label", "COLUMN", kCsv | kText, [](DataSpec& s, std::string_view v) { return set_text(s.label_column, v); },
     [](const DataSpec& s) { return text_or_nothing(s.label_column); }},
    {"ignore", "COLUMN/COLUMN", kCsv, set_ignore,
     [](const DataSpec& s) { return text_or_nothing(join(s.ignore, "/")); }},
    {"vocab", "FILE", kText, [](DataSpec& s, std::string_view v) { return set_text(s.vocab, v); },
     [](const DataSpec& s) { return text_or_nothing(s.vocab); }},
    {"max-len", "N", kText, [](DataSpec& s, std::string_view v) { return set_count(s.max_len, v, kMaxTokens); },
     [](const DataSpec& s) { return number_text(s.max_len); }},
    {"special", "begin/end, begin, end or none", kText,
     [](DataSpec& s, std::string_view v) {
       return set_word(s.special, v, {"begin/end", "begin", "end", "none"});
     },
     [](const DataSpec& s) { return text_or_nothing(s.special); }},
    {"ids", "model or fairseq", kText,
     [](DataSpec& s, std::string_view v) {
       return set_word(s.ids, v, {"model", "fairseq"});
     },
     [](const DataSpec& s) { return text_or_nothing(s.ids); }},
    {"length", "N", kBytes, [](DataSpec& s, std::string_view v) { return set_count(s.length, v, kMaxTokens); },
     [](const DataSpec& s) { return number_text(s.length); }},
    {"resize", "S or HxW", kPictures, set_resize, resize_text},
    {"crop", "S", kPictures, [](DataSpec& s, std::string_view v) { return set_count(s.transforms.crop, v, kMaxSide); },
     [](const DataSpec& s) { return number_text(s.transforms.crop); }},
    {"gray", "", kPictures, [](DataSpec& s, std::string_view) { return s.transforms.gray = true; },
     [](const DataSpec& s) { return flag_text(s.transforms.gray); }},
    {"bgr", "", kPictures, [](DataSpec& s, std::string_view) { return s.transforms.bgr = true; },
     [](const DataSpec& s) { return flag_text(s.transforms.bgr); }},
    {"scale", "F", kNumbers,
     [](DataSpec& s, std::string_view v) { return (s.transforms.scale = finite(v)).has_value(); },
     [](const DataSpec& s) { return s.transforms.scale ? fmt::format("{}", *s.transforms.scale) : Text(); }},
    {"mean", "a/b/c", kNumbers, [](DataSpec& s, std::string_view v) { return set_numbers(s.transforms.mean, v); },
     [](const DataSpec& s) { return numbers_text(s.transforms.mean); }},
    {"std", "a/b/c", kNumbers,
     [](DataSpec& s, std::string_view v) {
       if (!set_numbers(s.transforms.deviation, v)) return false;
       for (const double d : s.transforms.deviation) {
         if (d == 0) return false;
       }
       return true;
     },
     [](const DataSpec& s) { return numbers_text(s.transforms.deviation); }},
    {"layout", "nchw|nhwc", kPictures, set_layout,
     [](const DataSpec& s) { return text_or_nothing(s.transforms.layout); }},
    {"limit", "N", kSamples, [](DataSpec& s, std::string_view v) { return set_count(s.selection.limit, v); },
     [](const DataSpec& s) { return number_text(s.selection.limit); }},
    {"per-class", "N", kSamples, [](DataSpec& s, std::string_view v) { return set_count(s.selection.per_class, v); },
     [](const DataSpec& s) { return number_text(s.selection.per_class); }},
    {"every", "K", kSamples, [](DataSpec& s, std::string_view v) { return set_count(s.selection.every, v); },
     [](const DataSpec& s) { return number_text(s.selection.every); }},
    {"shuffle", "", kSamples, [](DataSpec& s, std::string_view) { return s.selection.shuffle = true; },
     [](const DataSpec& s) { return flag_text(s.selection.shuffle); }},
    {"split", "a:b", kSamples, set_split, split_text},
};

}  // namespace

std::span<const SpecOption> spec_options() { return kOptions; }

}  // namespace mlopt
