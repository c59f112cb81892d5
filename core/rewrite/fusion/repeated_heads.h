#pragma once
#include "core/rewrite/pass.h"

namespace mlopt::fusion {

/// Heads before each of them was repeated, so many times next to one another.
struct Kept {
  Value* value = nullptr;  ///< with an axis of length 1 behind the heads, or not
  int64_t times = 1;
};

/// [batch, kept, rows, size] of [batch, kept * times, rows, size], or what that is for heads on another axis; the value
/// itself, once, where nothing repeated its heads.
Kept unrepeated(Value* v, size_t heads);
/// The same of turned heads [batch, kept * times, size, rows], which were repeated before they were turned.
Kept unrepeated_turned(Value* v, const Builder& builder);

}  // namespace mlopt::fusion
