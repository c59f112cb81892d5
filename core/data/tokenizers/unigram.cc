#include "core/data/tokenizers/segmentation.h"

namespace mlopt {
namespace {

using Kind = SentencePieceModel::Kind;

constexpr float kUnknownPenalty = 10;  // below the worst piece
constexpr double kSymbolBonus = 0.1;   // of a user's symbol for each byte but the first

/// The best segmentation of the text up to a place ends with this piece.
struct Ending {
  int64_t id = -1;
  float score = 0;
  size_t begin = 0;

  void offer(int64_t piece, float total, size_t from) {
    if (id < 0 || total > score) *this = {piece, total, from};
  }
};

}  // namespace

std::vector<Segment> unigram_segments(const PieceIndex& index, std::string_view text) {
  std::vector<Ending> endings(text.size() + 1);
  const float unknown_score = index.lowest - kUnknownPenalty;
  for (size_t begin = 0; begin < text.size();) {
    const std::string_view rest = text.substr(begin);
    const size_t character = character_bytes(rest);
    const float so_far = endings[begin].score;
    bool single = false;
    index.words.for_each_prefix(rest, [&](size_t bytes, int64_t id) {
      if (index.is(id, Kind::kUnused)) return;
      const bool symbol = index.is(id, Kind::kUserDefined);
      const double bonus = kSymbolBonus * static_cast<double>(bytes) - kSymbolBonus;
      const float score = symbol ? static_cast<float>(bonus) : index.score(id);
      endings[begin + bytes].offer(id, score + so_far, begin);
      single = single || bytes == character;
    });
    if (!single) endings[begin + character].offer(index.model.unknown, unknown_score + so_far, begin);
    begin += character;
  }
  std::vector<Segment> segments;
  for (size_t end = text.size(); end > 0;) {
    const Ending& last = endings[end];
    segments.push_back({text.substr(last.begin, end - last.begin), last.id});
    end = last.begin;
  }
  std::reverse(segments.begin(), segments.end());
  return segments;
}

}  // namespace mlopt
