#include "core/data/tokenizers/piece_tree.h"

namespace mlopt {

PieceTree::PieceTree(std::vector<std::pair<std::string_view, int64_t>> pieces) : nodes_(1) {
  std::sort(pieces.begin(), pieces.end());
  struct Part {
    size_t node, begin, end, depth;  // these pieces agree in so many bytes
  };
  std::vector<Part> parts = {{0, 0, pieces.size(), 0}};
  for (size_t next = 0; next < parts.size(); ++next) {
    auto [node, begin, end, depth] = parts[next];
    if (begin < end && pieces[begin].first.size() == depth) {
      if (depth > 0) nodes_[node].id = static_cast<int32_t>(pieces[begin].second);
      ++begin;
    }
    nodes_[node].first = static_cast<uint32_t>(nodes_.size());
    while (begin < end) {
      const char byte = pieces[begin].first[depth];
      size_t stop = begin + 1;
      while (stop < end && pieces[stop].first[depth] == byte) ++stop;
      parts.push_back({nodes_.size(), begin, stop, depth + 1});
      nodes_.push_back({.first = 0, .count = 0, .byte = static_cast<uint8_t>(byte), .id = -1});
      ++nodes_[node].count;
      begin = stop;
    }
  }
}

const PieceTree::Node* PieceTree::child(const Node& node, uint8_t byte) const {
  const Node* begin = nodes_.data() + node.first;
  const Node* end = begin + node.count;
  const Node* at = std::lower_bound(begin, end, byte, [](const Node& n, uint8_t b) { return n.byte < b; });
  return at != end && at->byte == byte ? at : nullptr;
}

std::optional<int64_t> PieceTree::find(std::string_view piece) const {
  std::optional<int64_t> found;
  for_each_prefix(piece, [&](size_t bytes, int64_t id) {
    if (bytes == piece.size()) found = id;
  });
  return found;
}

size_t PieceTree::longest_prefix(std::string_view text) const {
  size_t longest = 0;
  for_each_prefix(text, [&](size_t bytes, int64_t) { longest = bytes; });
  return longest;
}

}  // namespace mlopt
