#pragma once
#include <cstdint>

#include "core/ir/key_window.h"
#include "core/rewrite/pass.h"

namespace mlopt::lower {

/// [queries, keys], float32: 0 where a key is seen, else minus infinity. Query i has the position of key i + `past`.
/// Not where the mask would be too large, or the window is not valid.
Expected<Tensor> hidden_keys(const KeyWindow& window, int64_t queries, int64_t keys, int64_t past);

/// The mask as numbers that are added to scores: bool has true where a key is seen; null for null.
Value* mask_numbers(Value* mask, Builder& builder);

/// Has the mask a number for each key? The standard hides the keys that it has none for.
bool covers_keys(const Value& mask, int64_t keys);

/// Both masks; null is none.
Value* joined_masks(Value* a, Value* b, Builder& builder);

}  // namespace mlopt::lower
