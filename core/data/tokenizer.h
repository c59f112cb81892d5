#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlopt {

/// Turns texts into the ids of a vocabulary.
struct Tokenizer {
  /// The ids of a text (UTF-8), without special tokens. May be called from several threads.
  std::function<std::vector<int64_t>(std::string_view text)> encode;
  std::optional<int64_t> begin, end;          ///< the tokens that texts may begin and end with, where it has them
  bool adds_begin = false, adds_end = false;  ///< are they put around texts, as the vocabulary's models want
  int64_t pad = 0;
  int64_t size = 0;  ///< ids are below
};

/// How the ids of a SentencePiece model are counted.
enum class IdLayout {
  kModel,    ///< as the file counts its pieces
  kFairseq,  ///< <s>, <pad>, </s>, <unk>, then the model's pieces from its fourth (XLM-RoBERTa)
};

/// Reads a vocabulary of WordPiece (text, a token a line) or a SentencePiece model (unigram or BPE). Nothing for
/// `layout`: kFairseq where `table`, the rows that the model's table of ids has, says so. Throws Error{kBadInput}
/// naming the file when it is neither or misses a token.
Tokenizer open_tokenizer(const std::string& path, std::optional<IdLayout> layout = std::nullopt,
                         std::optional<int64_t> table = std::nullopt);

/// Exactly `length` ids: special tokens around the text, which is cut off to leave room for them, then padding. `used`
/// are those that are no padding.
struct TokenRow {
  std::vector<int64_t> ids;
  int64_t used = 0;
};
TokenRow token_row(const Tokenizer& tokenizer, std::string_view text, int64_t length);

}  // namespace mlopt
