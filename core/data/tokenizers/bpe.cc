#include <map>
#include <queue>

#include "core/data/tokenizers/segmentation.h"

namespace mlopt {
namespace {

using Kind = SentencePieceModel::Kind;

struct Symbol {
  std::string_view text;  // empty: merged into the one before
  ptrdiff_t before = -1, after = -1;
  bool fixed = false;  // a user's symbol is merged with nothing
};

/// Two neighbours that make a piece. Out of date when their sizes have changed.
struct Pair {
  float score = 0;
  ptrdiff_t left = 0, right = 0;
  size_t bytes = 0;

  bool operator<(const Pair& other) const {  // the queue's top is the greatest
    return score < other.score || (score == other.score && left > other.left);
  }
};

class Merger {
 public:
  Merger(const PieceIndex& index, std::string_view text) : index_(index) {
    while (!text.empty()) {
      const size_t symbol = index.symbols.longest_prefix(text);
      const size_t bytes = symbol ? symbol : character_bytes(text);
      const auto place = static_cast<ptrdiff_t>(symbols_.size());
      symbols_.push_back({text.substr(0, bytes), place - 1, place + 1, symbol > 0});
      text.remove_prefix(bytes);
    }
    if (!symbols_.empty()) symbols_.back().after = -1;
  }

  void merge_all() {
    for (size_t i = 1; i < symbols_.size(); ++i) offer(static_cast<ptrdiff_t>(i) - 1, static_cast<ptrdiff_t>(i));
    while (!pairs_.empty()) {
      const Pair pair = pairs_.top();
      pairs_.pop();
      Symbol &left = at(pair.left), &right = at(pair.right);
      if (left.text.empty() || right.text.empty() || left.text.size() + right.text.size() != pair.bytes) continue;
      left.text = joined(left, right);
      left.after = right.after;
      if (right.after >= 0) at(right.after).before = pair.left;
      right.text = {};
      offer(left.before, pair.left);
      offer(pair.left, left.after);
    }
  }

  std::vector<Segment> segments() const {
    std::vector<Segment> out;
    for (ptrdiff_t i = symbols_.empty() ? -1 : 0; i >= 0; i = symbols_[static_cast<size_t>(i)].after)
      put(out, symbols_[static_cast<size_t>(i)].text);
    return out;
  }

 private:
  Symbol& at(ptrdiff_t i) { return symbols_[static_cast<size_t>(i)]; }

  static std::string_view joined(const Symbol& left, const Symbol& right) {
    return {left.text.data(), left.text.size() + right.text.size()};  // they stand side by side
  }

  void offer(ptrdiff_t left, ptrdiff_t right) {
    if (left < 0 || right < 0 || at(left).fixed || at(right).fixed) return;
    const std::string_view text = joined(at(left), at(right));
    const auto id = index_.words.find(text);
    if (!id) return;
    pairs_.push({index_.score(*id), left, right, text.size()});
    if (index_.is(*id, Kind::kUnused)) made_of_[text] = at(left).text.size();
  }

  int64_t id_of(std::string_view text) const {
    if (const auto id = index_.reserved.find(text)) return *id;
    return index_.words.find(text).value_or(index_.model.unknown);
  }

  /// A piece that is not used any more is a step to others: where it remains, it falls apart again.
  void put(std::vector<Segment>& out, std::string_view text) const {
    std::vector<std::string_view> open = {text};
    while (!open.empty()) {
      const std::string_view part = open.back();
      open.pop_back();
      const int64_t id = id_of(part);
      const auto made = index_.is(id, Kind::kUnused) ? made_of_.find(part) : made_of_.end();
      if (made == made_of_.end()) {
        out.push_back({part, id});
        continue;
      }
      open.push_back(part.substr(made->second));
      open.push_back(part.substr(0, made->second));
    }
  }

  const PieceIndex& index_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Pair> pairs_;
  std::map<std::string_view, size_t> made_of_;  // unused pieces, and the bytes of the left one of their two parts
};

}  // namespace

std::vector<Segment> bpe_segments(const PieceIndex& index, std::string_view text) {
  Merger merger(index, text);
  merger.merge_all();
  return merger.segments();
}

}  // namespace mlopt
