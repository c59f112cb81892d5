#pragma once
#include <array>

#include "core/rewrite/pass.h"

namespace mlopt {

/// Columns of queries, keys and values in the constant weights of a com.microsoft.Attention that split_attention() can
/// split; or why it cannot.
Expected<std::array<int64_t, 3>> columns_of_parts(const NodeView& attention);

/// com.microsoft.Attention -> MatMuls of x by these columns of its weights, and com.microsoft.MultiHeadAttention with
/// its bias: the result of that.
Value* split_attention(const NodeView& attention, const std::array<int64_t, 3>& columns, Builder& builder);

/// The same wherever it can be: no format says how weights inside of an operator are stored.
extern const Pass split_attention_pass;

}  // namespace mlopt
