#pragma once
#include <optional>

#include "core/rewrite/pass.h"

// Causal attention: query i, before whose first row `past` keys come, sees the keys up to past + i.
namespace mlopt::fusion {

/// Does the mask [..., rows, past + rows] that is added to scores hide exactly the keys after each query?
bool is_causal(const Value* mask, const Dim& past, const Builder& builder);

/// Is it true, or not 0, exactly where the key (last axis) comes after the query (`after`), or where it does not?
bool is_order(const Value* v, bool after, const Dim& past, const Builder& builder);

/// How many keys, up to the one at its own place, each query sees where the condition is true for these and no others;
/// nothing for other conditions, also for those that set no such bound.
std::optional<int64_t> window_in(const Value* condition, const Dim& past, const Builder& builder);

}  // namespace mlopt::fusion
