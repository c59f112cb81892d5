#include "core/data/spec.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/spec_options.h"

namespace mlopt {
namespace {

struct KindName {
  std::string_view name;
  DataKind kind;
};
constexpr KindName kKinds[] = {{"random", DataKind::kRandom}, {"images", DataKind::kImages}, {"idx", DataKind::kIdx},
                               {"csv", DataKind::kCsv},       {"bytes", DataKind::kBytes},   {"text", DataKind::kText}};
constexpr int64_t kMaxRandom = 1'000'000;

[[noreturn]] void bad_spec(const std::string& what, std::string_view spec, const std::string& fix) {
  usage_error(what, fmt::format("--data {}", spec), fix);
}

/// Pieces between commas; "\," is a comma and "\\" a backslash inside a piece.
std::vector<std::string> pieces_of(std::string_view text) {
  std::vector<std::string> pieces(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == ',' || text[i + 1] == '\\');
    if (escape) {
      pieces.back() += text[++i];
    } else if (text[i] == ',') {
      pieces.emplace_back();
    } else {
      pieces.back() += text[i];
    }
  }
  return pieces;
}

std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == ',' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// Takes the kind and its colon off the front of `text`.
DataKind take_kind(std::string& text, std::string_view spec) {
  if (text == "random") {
    text.clear();
    return DataKind::kRandom;
  }
  const size_t colon = text.find(':');
  const std::string word = text.substr(0, colon);
  const bool word_like = colon != std::string::npos && !word.empty() &&
                         std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (!word_like) return DataKind::kArrays;
  text.erase(0, colon + 1);
  std::vector<std::string> names;
  for (const KindName& kind : kKinds) {
    if (kind.name == word) return kind.kind;
    names.emplace_back(kind.name);
  }
  bad_spec(fmt::format("unknown kind of data '{}'", word), spec,
           suggestion(word, names) + fmt::format("; a path with a colon is written ./{}:...", word));
}

bool is_option(const std::string& piece) {
  const auto options = spec_options();
  return piece.find('=') != std::string::npos ||
         std::any_of(options.begin(), options.end(), [&](const SpecOption& option) { return option.name == piece; });
}

void set_option(DataSpec& spec, const std::string& piece, std::string_view whole) {
  const size_t equals = piece.find('=');
  const std::string name = piece.substr(0, equals);
  std::vector<std::string> names;
  for (const SpecOption& option : spec_options()) {
    if (!(option.kinds >> static_cast<int>(spec.kind) & 1)) continue;
    names.emplace_back(option.name);
    if (option.name != name) continue;
    const bool flag = option.takes.empty();
    const std::string shown = flag ? name : fmt::format("{}={}", name, option.takes);
    if (flag != (equals == std::string::npos)) bad_spec(fmt::format("'{}' is written {}", name, shown), whole, {});
    const std::string value = flag ? "" : piece.substr(equals + 1);
    if (option.get(spec)) bad_spec(fmt::format("'{}' is given twice", name), whole, "give it once");
    if (!option.set(spec, value)) bad_spec(fmt::format("'{}' is no value for {}", value, shown), whole, {});
    return;
  }
  bad_spec(fmt::format("unknown option '{}' of this kind of data", name), whole,
           names.empty() ? "it takes no options" : suggestion(name, names));
}

void set_random(DataSpec& spec, const std::string& count, std::string_view whole) {
  if (count.empty() && whole.find(':') == std::string_view::npos) return;
  spec.count = parse_int(count);
  if (!spec.count || *spec.count < 1 || *spec.count > kMaxRandom) {
    bad_spec(fmt::format("'{}' is no number of batches", count), whole, "for example random:8");
  }
}

}  // namespace

DataSpec parse_data_spec(std::string_view text) {
  std::vector<std::string> pieces = pieces_of(text);
  DataSpec spec;
  spec.kind = take_kind(pieces[0], text);
  size_t next = 1;
  if (spec.kind == DataKind::kRandom) {
    set_random(spec, pieces[0], text);
  } else {
    spec.path = pieces[0];
    if (spec.path.empty()) bad_spec("the path is missing", text, "for example --data images:photos/");
  }
  if (spec.kind == DataKind::kIdx && pieces.size() > 1 && !is_option(pieces[1])) {
    spec.labels = pieces[next++];
    if (spec.labels.empty()) bad_spec("the file of labels is missing", text, "idx:IMAGES,LABELS");
  }
  for (; next < pieces.size(); ++next) set_option(spec, pieces[next], text);
  if (spec.kind == DataKind::kText && spec.vocab.empty()) {
    bad_spec("the vocabulary is missing", text, "add vocab=FILE: BERT's vocab.txt, or a SentencePiece model");
  }
  return spec;
}

std::string print(const DataSpec& spec) {
  std::string text;
  for (const KindName& kind : kKinds) {
    if (kind.kind == spec.kind) text = kind.name;
  }
  if (spec.kind == DataKind::kRandom) return spec.count ? fmt::format("{}:{}", text, *spec.count) : text;
  if (!text.empty()) text += ':';
  text += escaped(spec.path);
  if (spec.kind == DataKind::kIdx && !spec.labels.empty()) text += "," + escaped(spec.labels);
  for (const SpecOption& option : spec_options()) {
    const auto value = option.get(spec);
    if (!value) continue;
    text += fmt::format(",{}", option.name);
    if (!option.takes.empty()) text += "=" + escaped(*value);
  }
  return text;
}

}  // namespace mlopt
