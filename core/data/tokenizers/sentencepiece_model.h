#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlopt {

/// What a SentencePiece .model file says (sentencepiece_model.proto of Kudo and Richardson 2018).
struct SentencePieceModel {
  enum class Kind { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };
  struct Piece {
    std::string text;
    float score = 0;
    Kind kind = Kind::kNormal;
  };
  enum class Algorithm { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };

  std::vector<Piece> pieces = {};  ///< their ids are their places
  Algorithm algorithm = Algorithm::kUnigram;
  int64_t unknown = 0;         ///< id of the only unknown piece
  bool byte_fallback = false;  ///< unknown characters become the pieces of their bytes
  bool space_is_suffix = false;
  std::string bos_piece = "<s>", eos_piece = "</s>", pad_piece = "<pad>";
  std::string charsmap = {};  ///< compiled rules of normalization; empty: none
  bool dummy_prefix = true;   ///< a space before the text, so that a word is the same everywhere
  bool one_space = true;      ///< spaces at both ends go, and of several one stays
  bool escape_spaces = true;  ///< a space is U+2581

  /// The id of the piece `text` of this kind.
  std::optional<int64_t> find(std::string_view text, Kind kind) const;
};

/// Throws Error{kBadInput} naming `where` unless the bytes are such a file, with one unknown piece and no piece twice.
SentencePieceModel parse_sentencepiece_model(std::string_view bytes, const std::string& where);

}  // namespace mlopt
