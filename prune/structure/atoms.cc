#include "prune/structure/atoms.h"

#include <algorithm>

namespace mlopt::prune {

constexpr int64_t kMost = 1 << 28;  // elements of all axes

std::optional<size_t> Atoms::axis(const Value& value, int64_t axis, const Node* node) {
  if (!value.type.dims) return std::nullopt;
  const auto rank = static_cast<int64_t>(value.type.dims->size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  const auto size = (*value.type.dims)[static_cast<size_t>(axis)].value();
  if (!size || *size < 2) return std::nullopt;
  std::vector<int32_t>& slots = slots_[&value];
  slots.resize(static_cast<size_t>(rank), -1);
  int32_t& slot = slots[static_cast<size_t>(axis)];
  if (slot < 0 && *size > kMost - std::ssize(parent_)) return std::nullopt;
  if (slot < 0) {
    slot = static_cast<int32_t>(axes_.size());
    axes_.push_back({.value = &value, .axis = static_cast<int>(axis), .size = *size});
    first_.push_back(static_cast<uint32_t>(parent_.size()));
    for (int64_t i = 0; i < *size; ++i) parent_.push_back(static_cast<uint32_t>(parent_.size()));
    pin_.resize(parent_.size(), -1);
  }
  Axis& found = axes_[static_cast<size_t>(slot)];
  if (node && (found.nodes.empty() || found.nodes.back() != node)) found.nodes.push_back(node);
  return static_cast<size_t>(slot);
}

uint32_t Atoms::root(uint32_t atom) const {
  while (parent_[atom] != atom) {
    parent_[atom] = parent_[parent_[atom]];
    atom = parent_[atom];
  }
  return atom;
}

void Atoms::tie(size_t a, int64_t i, size_t b, int64_t j) {
  const uint32_t x = find(a, i), y = find(b, j);
  if (x == y) return;
  const uint32_t low = std::min(x, y), high = std::max(x, y);
  parent_[high] = low;
  if (pin_[low] < 0) pin_[low] = pin_[high];
}

int32_t Atoms::reason_number(const std::string& reason) {
  const auto [it, fresh] = numbers_.try_emplace(reason, static_cast<int32_t>(reasons_.size()));
  if (fresh) reasons_.push_back(reason);
  return it->second;
}

void Atoms::pin(size_t axis, int64_t i, const std::string& reason) {
  int32_t& pin = pin_[find(axis, i)];
  if (pin < 0) pin = reason_number(reason);
}

void Atoms::pin_all(size_t axis, const std::string& reason) {
  const int32_t number = reason_number(reason);
  for (int64_t i = 0; i < axes_[axis].size; ++i) {
    int32_t& pin = pin_[find(axis, i)];
    if (pin < 0) pin = number;
  }
}

const std::string* Atoms::pinned(uint32_t atom) const {
  const int32_t number = pin_[root(atom)];
  return number < 0 ? nullptr : &reasons_[static_cast<size_t>(number)];
}

bool Atoms::all_pinned(size_t axis) const {
  for (int64_t i = 0; i < axes_[axis].size; ++i)
    if (!pinned(find(axis, i))) return false;
  return true;
}

}  // namespace mlopt::prune
