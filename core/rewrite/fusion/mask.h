#pragma once
#include <optional>

#include "core/rewrite/pass.h"

namespace mlopt::fusion {

/// Numbers that hide keys of attention, of which the source adds at most this.
inline constexpr double kHidden = -9999;

/// Does the mask [..., n, n] that is added to scores hide exactly the keys after each query?
bool is_causal(const Value* mask, const Builder& builder);

/// A mask that hides keys of a sample from all of its queries.
struct PaddingMask {
  Value* keys = nullptr;  ///< [batch, keys], bool: true where the key is seen
  double hidden = 0;      ///< what is added to the scores of the others
};

/// The mask [batch, 1, 1 or queries, keys] that is added to scores, where it is one for padding.
std::optional<PaddingMask> padding_of(const Value* mask);

}  // namespace mlopt::fusion
