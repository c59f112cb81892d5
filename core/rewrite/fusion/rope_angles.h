#pragma once
#include "core/rewrite/pass.h"

namespace mlopt::fusion {

/// Cosines and sines of angles that are computed from positions, for heads [batch, heads, rows, size], or
/// [batch, rows, heads, size] where they are [batch or 1, rows, 1, size].
struct Rotation {
  /// As they multiply the heads, [batch or 1, 1, rows, size] or [rows, size], or one half of that each half of them.
  Value *cosines = nullptr, *sines = nullptr;
  bool whole = true;  ///< both halves
};

/// RotaryEmbedding of the heads x by halves of these cosines and sines, whose other halves are the same; a reason where
/// they are something else, or the target has no such operator.
Expected<Replacement> turned_by_angles(Value* x, const Rotation& rotation, Builder& builder);

/// Does a graph for this target get com.microsoft's operator?
bool takes_contrib_rope(const Builder& builder);

/// A table [rows, half] or [1, rows, half] as [batch, rows, half], the same for each sample of x [batch, ...].
Value* for_each_sample(Value* table, Value* x, Builder& builder);

/// 0, 1, 2, ... as [batch, rows] for a value [batch, rows, ...].
Value* rows_of(Value* angles, Builder& builder);

}  // namespace mlopt::fusion
