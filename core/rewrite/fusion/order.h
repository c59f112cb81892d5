#pragma once
#include "core/rewrite/pass.h"

// Causal attention: query i, before whose first row `past` keys come, sees the keys up to past + i.
namespace mlopt::fusion {

/// Does the mask [..., rows, past + rows] that is added to scores hide exactly the keys after each query?
bool is_causal(const Value* mask, const Dim& past, const Builder& builder);

/// Is it true, or not 0, exactly where the key (last axis) comes after the query (`after`), or where it does not?
bool is_order(const Value* v, bool after, const Dim& past, const Builder& builder);

}  // namespace mlopt::fusion
