#pragma once
#include <string_view>
#include <vector>

#include "core/data/tokenizers/piece_tree.h"
#include "core/data/tokenizers/sentencepiece_model.h"

namespace mlopt {

/// The pieces of a model, ready to be looked up.
struct PieceIndex {
  /// `model` must outlive this.
  explicit PieceIndex(const SentencePieceModel& model);

  const SentencePieceModel& model;
  PieceTree words;     ///< what texts are cut into
  PieceTree reserved;  ///< unknown, control and byte pieces, which no text matches
  PieceTree symbols;   ///< those of `words` that users defined: always one piece
  float lowest = 0;    ///< score of a normal piece

  bool is(int64_t id, SentencePieceModel::Kind kind) const {
    return model.pieces[static_cast<size_t>(id)].kind == kind;
  }
  float score(int64_t id) const { return model.pieces[static_cast<size_t>(id)].score; }
};

/// A part of a text and the id of its piece, which may be the unknown one.
struct Segment {
  std::string_view text;
  int64_t id = 0;
};

// Both cut a normalized text, without joining runs of unknown pieces, and are linear in it but for a logarithm.

/// The segmentation of the highest sum of scores (Kudo 2018, Viterbi's algorithm), rounded as SentencePiece rounds, so
/// that ties fall alike.
std::vector<Segment> unigram_segments(const PieceIndex& index, std::string_view text);
/// Neighbours merged, the pair of the highest score first and of equal ones the leftmost (Sennrich et al. 2016).
std::vector<Segment> bpe_segments(const PieceIndex& index, std::string_view text);

/// Bytes of the character that `text` begins with, as its first byte tells.
size_t character_bytes(std::string_view text);

}  // namespace mlopt
