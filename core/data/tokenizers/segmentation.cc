#include "core/data/tokenizers/segmentation.h"

#include <cfloat>
#include <initializer_list>

namespace mlopt {
namespace {

using Kind = SentencePieceModel::Kind;

PieceTree tree_of(const SentencePieceModel& model, std::initializer_list<Kind> kinds) {
  std::vector<std::pair<std::string_view, int64_t>> pieces;
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    const bool wanted = std::find(kinds.begin(), kinds.end(), model.pieces[i].kind) != kinds.end();
    if (wanted) pieces.emplace_back(model.pieces[i].text, static_cast<int64_t>(i));
  }
  return PieceTree(std::move(pieces));
}

}  // namespace

PieceIndex::PieceIndex(const SentencePieceModel& from)
    : model(from),
      words(tree_of(from, {Kind::kNormal, Kind::kUserDefined, Kind::kUnused})),
      reserved(tree_of(from, {Kind::kUnknown, Kind::kControl, Kind::kByte})),
      symbols(tree_of(from, {Kind::kUserDefined})),
      lowest(FLT_MAX) {
  for (const SentencePieceModel::Piece& piece : from.pieces) {
    if (piece.kind == Kind::kNormal) lowest = std::min(lowest, piece.score);
  }
}

size_t character_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t bytes = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(bytes, text.size());
}

}  // namespace mlopt
