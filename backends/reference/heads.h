#pragma once
#include "backends/reference/compute.h"

namespace mlopt::reference {

/// [batch, rows, heads * size] as [batch, heads, rows, size]. Throws Error{kBadInput} naming the node unless `x` has rank 3
/// and its last axis is a multiple of `heads`.
Tensor split_heads(const Call& call, const Tensor& x, int64_t heads);
/// The inverse.
Tensor merge_heads(const Call& call, const Tensor& x);

/// Rows of `past` followed by those of `x`, both [batch, heads, rows, size]; the same type. Throws when they do not fit.
Tensor append_rows(const Call& call, const Tensor& past, const Tensor& x);

}  // namespace mlopt::reference
