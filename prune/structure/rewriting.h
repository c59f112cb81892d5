#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/ir/graph.h"
#include "core/ir/view.h"

namespace mlopt::prune {

/// What stays of each value: the positions kept on an axis, for the axes that lose some.
class Kept {
 public:
  void set(const Value* value, int axis, std::vector<int64_t> positions);
  /// Null where nothing is removed.
  const std::vector<int64_t>* find(const Value* value, int axis) const;
  /// The size of the axis (from the front) afterwards; nothing where it is not known.
  std::optional<int64_t> size(const Value* value, int axis) const;
  const std::unordered_map<const Value*, std::unordered_map<int, std::vector<int64_t>>>& all() const { return kept_; }

 private:
  std::unordered_map<const Value*, std::unordered_map<int, std::vector<int64_t>>> kept_;
};

/// A shape input whose elements must become these numbers; nothing: an element that stays as it is.
struct WantedShape {
  Node* node = nullptr;
  int input = 0;
  std::vector<std::optional<int64_t>> elements;
};

/// One operator of which some channels go. Types are still those from before.
class Rewriting {
 public:
  Rewriting(Node& node, int64_t opset, const Kept& kept, std::vector<WantedShape>& wanted)
      : node(node), view(node, opset), kept(kept), wanted_(wanted) {}

  Node& node;
  const NodeView view;
  const Kept& kept;

  /// A list of integers that is the attribute before `since` and an input from then on.
  void set_ints(std::string_view attr, int input, int64_t since, std::vector<int64_t> values);
  /// Elements of a shape in input `input` follow the axes of `shaped` that lose something.
  void want_shape(int input, const Value* shaped);

 private:
  std::vector<WantedShape>& wanted_;
};

}  // namespace mlopt::prune
