#pragma once
#include "core/rewrite/fusion/attention_parts.h"

// What exporters do about rows of attention whose keys are all hidden.
namespace mlopt::fusion {

/// The result y [batch, rows, heads * size] with zeros for rows that are no numbers.
Value* zero_where_nan(Value* y, Builder& builder);

/// The same with zeros for rows whose keys the condition hides all; null where that depends on the head, or the shape
/// of the condition is not known.
Value* zero_where_hidden(Value* y, const Choice& kept, Builder& builder);

}  // namespace mlopt::fusion
