#include "core/data/tokenizers/sentencepiece_normalizer.h"

#include "core/data/unicode/utf8.h"

namespace mlopt {
namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";        // U+2581
constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

}  // namespace

/// What the text begins with, and what becomes of it.
SentencePieceNormalizer::Step SentencePieceNormalizer::step(std::string_view text) const {
  if (const size_t bytes = symbols_.longest_prefix(text)) return {bytes, text.substr(0, bytes)};
  if (const auto rule = rules_.match(text)) return {rule->bytes, rule->by};
  const unicode::Decoded next = unicode::first_character(text);
  return {next.bytes, next.valid ? text.substr(0, next.bytes) : kReplacement};
}

std::string SentencePieceNormalizer::normalize(std::string_view text) const {
  const std::string_view space = model_.escape_spaces ? kSpace : std::string_view(" ");
  while (model_.one_space && !text.empty()) {
    const Step next = step(text);
    if (next.becomes != " ") break;
    text.remove_prefix(next.bytes);
  }
  if (text.empty()) return {};
  std::string out;
  if (model_.dummy_prefix && !model_.space_is_suffix) out += space;
  bool after_space = model_.one_space;
  while (!text.empty()) {
    Step next = step(text);
    text.remove_prefix(next.bytes);
    while (after_space && next.becomes.starts_with(' ')) next.becomes.remove_prefix(1);
    if (next.becomes.empty()) continue;
    for (const char c : next.becomes) {
      if (c == ' ') {
        out += space;
      } else {
        out += c;
      }
    }
    after_space = model_.one_space && next.becomes.ends_with(' ');
  }
  while (model_.one_space && out.ends_with(space)) out.resize(out.size() - space.size());
  if (model_.dummy_prefix && model_.space_is_suffix) out += space;
  return out;
}

}  // namespace mlopt
