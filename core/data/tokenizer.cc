#include "core/data/tokenizer.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/data/byte_source.h"
#include "core/data/tokenizers/sentencepiece.h"
#include "core/data/tokenizers/wordpiece.h"
#include "core/data/unicode/utf8.h"

namespace mlopt {
namespace {

constexpr int64_t kMostBytes = int64_t{64} << 20;  // the largest published vocabularies have 5 MB

}  // namespace

Tokenizer open_tokenizer(const std::string& path, std::optional<IdLayout> layout, std::optional<int64_t> table) {
  const Source file = open_source(path);
  if (file->size() > kMostBytes) {
    input_error("a vocabulary of more than 64 MB", path, "give the vocab.txt or the SentencePiece model (.model)");
  }
  const std::string bytes = read_all(*file);
  // The scores of a SentencePiece model hold zero bytes, which no text does.
  const bool text = bytes.find('\0') == std::string::npos && unicode::is_utf8(bytes);
  if (!text) return sentencepiece_tokenizer(bytes, path, layout, table);
  if (layout) {
    input_error("ids= is for SentencePiece models, and this is a text", path,
                "leave ids= out, or give the .model file");
  }
  return wordpiece_tokenizer(bytes, path);
}

TokenRow token_row(const Tokenizer& tokenizer, std::string_view text, int64_t length) {
  const auto size = static_cast<size_t>(length);
  const size_t special = (tokenizer.adds_begin ? 1 : 0) + (tokenizer.adds_end ? 1 : 0);
  std::vector<int64_t> tokens = tokenizer.encode(text);
  tokens.resize(std::min(tokens.size(), size - std::min(size, special)));
  TokenRow row;
  if (tokenizer.adds_begin) row.ids.push_back(*tokenizer.begin);
  row.ids.insert(row.ids.end(), tokens.begin(), tokens.end());
  if (tokenizer.adds_end) row.ids.push_back(*tokenizer.end);
  row.used = static_cast<int64_t>(row.ids.size());
  row.ids.resize(size, tokenizer.pad);
  return row;
}

}  // namespace mlopt
