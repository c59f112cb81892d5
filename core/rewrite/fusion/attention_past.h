#pragma once
#include <string_view>
#include <vector>

#include "core/rewrite/fusion/attention_site.h"

namespace mlopt::fusion {

/// Does what reads all keys, or values, come after the attention that ends with `root`, but for the attention itself?
bool read_late(const Heads& heads, const Node& root, const Graph& graph);

/// [1, 1, rows, keys] of scores with a past, for masks that may hold one number for all; null where no input of the
/// graph has the queries, or the keys made now, as an axis.
Value* score_shape(const Heads& q, const Heads& k, Builder& builder);

/// Attention, MultiHeadAttention or GroupQueryAttention that puts keys and values behind those of the past, which join
/// `inputs`, and gives all of them to their other readers.
Value* with_past(std::string_view op, const Heads& k, const Heads& v, const Type& type, std::vector<Value*> inputs,
                 std::vector<Attr> attrs, Builder& builder);

}  // namespace mlopt::fusion
