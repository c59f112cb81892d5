#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ir/graph.h"

namespace mlopt::prune {

/// An axis of a value whose size is a known integer above 1.
struct Axis {
  const Value* value = nullptr;
  int axis = 0;
  int64_t size = 0;
  const Node* producer = nullptr;    ///< whose weight this is, with an output channel for each element; null: none
  bool heads = false;                ///< numbers the products of activations that attention makes side by side
  bool normalized = false;           ///< statistics are taken over it, and become those of what is left
  std::vector<const Node*> nodes{};  ///< that said something of the axis, in schedule order
};

/// The elements of axes ("atoms"), and which of them stay or go together: a union-find.
class Atoms {
 public:
  /// The number of an axis (negative ones count from the end); nothing where its size is not known or 1, or larger than
  /// any that channels have.
  std::optional<size_t> axis(const Value& value, int64_t axis, const Node* node);
  const std::vector<Axis>& axes() const { return axes_; }
  Axis& at(size_t axis) { return axes_[axis]; }

  /// Has the axis an element i?
  bool holds(size_t axis, int64_t i) const { return i >= 0 && i < axes_[axis].size; }
  /// Element i of axis a and element j of axis b stay or go together.
  void tie(size_t a, int64_t i, size_t b, int64_t j);
  /// The element stays, and what is tied to it; the first reason is kept.
  void pin(size_t axis, int64_t i, const std::string& reason);
  void pin_all(size_t axis, const std::string& reason);

  /// The class of an element: one number for all that are tied to it.
  uint32_t find(size_t axis, int64_t i) const { return root(first_[axis] + static_cast<uint32_t>(i)); }
  /// Why the class stays; null: nothing says so.
  const std::string* pinned(uint32_t atom) const;
  /// Does every element of the axis stay?
  bool all_pinned(size_t axis) const;
  size_t size() const { return parent_.size(); }

 private:
  uint32_t root(uint32_t atom) const;
  int32_t reason_number(const std::string& reason);

  std::vector<Axis> axes_;
  std::vector<uint32_t> first_;           // of each axis
  mutable std::vector<uint32_t> parent_;  // mutable: paths are shortened when they are walked
  std::vector<int32_t> pin_;              // of roots: number of the reason, -1 for none
  std::deque<std::string> reasons_;
  std::unordered_map<std::string, int32_t> numbers_;
  std::unordered_map<const Value*, std::vector<int32_t>> slots_;  // axis -> number, -1: not yet
};

}  // namespace mlopt::prune
