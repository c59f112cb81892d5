#pragma once
#include "core/rewrite/fusion/attention_parts.h"

// What exporters do about rows of attention whose keys are all hidden.
namespace mlopt::fusion {

/// The result y [batch, rows, heads * size] with zeros for rows that are no numbers.
Value* zero_where_nan(Value* y, Builder& builder);

/// Does the condition [batch or 1, 1, rows or 1, keys] hide the same keys from all heads?
bool is_for_all_heads(const Choice& kept);

/// The same with zeros for rows whose keys such a condition hides all.
Value* zero_where_hidden(Value* y, const Choice& kept, Builder& builder);

}  // namespace mlopt::fusion
