#pragma once
#include <string>
#include <string_view>

#include "core/data/tokenizers/charsmap.h"
#include "core/data/tokenizers/piece_tree.h"
#include "core/data/tokenizers/sentencepiece_model.h"

namespace mlopt {

/// Brings texts into the form in which SentencePiece segments them: characters replaced by the model's rules, malformed
/// ones by U+FFFD, spaces joined and written as U+2581, one before the text.
class SentencePieceNormalizer {
 public:
  /// `model` and `symbols`, the pieces that users defined and that are left as they are, must outlive this.
  SentencePieceNormalizer(const SentencePieceModel& model, const PieceTree& symbols, const std::string& where)
      : model_(model), symbols_(symbols), rules_(model.charsmap, where) {}

  std::string normalize(std::string_view text) const;

 private:
  struct Step {
    size_t bytes;
    std::string_view becomes;
  };
  Step step(std::string_view text) const;

  const SentencePieceModel& model_;
  const PieceTree& symbols_;
  CharsMap rules_;
};

}  // namespace mlopt
