#pragma once
#include <cstdint>
#include <optional>

#include "core/rewrite/pass.h"

namespace mlopt::lower {

/// The keys that queries see by their position: from `left` keys before their own to `right` after it; -1: all there.
struct KeyWindow {
  int64_t left = -1, right = -1;

  bool is_open() const { return left < 0 && right < 0; }
};
/// That of the standard's Attention, or of com.microsoft's with its attribute `unidirectional`.
KeyWindow key_window(const NodeView& attention);

/// [queries, keys], float32: 0 where a key is seen, else minus infinity. Query i has the position of key i + `past`.
/// Nothing where the mask would be too large.
std::optional<Tensor> hidden_keys(const KeyWindow& window, int64_t queries, int64_t keys, int64_t past);

/// The mask as numbers that are added to scores: bool has true where a key is seen.
Value* mask_numbers(Value* mask, Builder& builder);

/// Has the mask a number for each key? The standard hides the keys that it has none for.
bool covers_keys(const Value& mask, int64_t keys);

/// Both masks; null is none.
Value* joined_masks(Value* a, Value* b, Builder& builder);

}  // namespace mlopt::lower
