#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace mlopt {

/// A tree of the bytes of pieces, for finding those that a text begins with.
class PieceTree {
 public:
  /// Pieces and their ids, no piece twice; an empty one is not found.
  explicit PieceTree(std::vector<std::pair<std::string_view, int64_t>> pieces);

  std::optional<int64_t> find(std::string_view piece) const;
  /// Calls fn(bytes, id) for every piece that `text` begins with, the shortest first.
  template <class Fn>
  void for_each_prefix(std::string_view text, const Fn& fn) const {
    const Node* node = nodes_.data();
    for (size_t i = 0; i < text.size(); ++i) {
      node = child(*node, static_cast<uint8_t>(text[i]));
      if (!node) return;
      if (node->id >= 0) fn(i + 1, node->id);
    }
  }
  /// Bytes of the longest piece that `text` begins with; 0: none.
  size_t longest_prefix(std::string_view text) const;

 private:
  struct Node {
    uint32_t first = 0;  // of its children, which stand together in order of their bytes
    uint16_t count = 0;
    uint8_t byte = 0;
    int32_t id = -1;
  };

  const Node* child(const Node& node, uint8_t byte) const;

  std::vector<Node> nodes_;
};

}  // namespace mlopt
