#pragma once
#include "backends/reference/attend.h"
#include "backends/reference/compute.h"

namespace mlopt::reference {

/// [batch, rows, heads * size] as [batch, heads, rows, size]. Throws Error{kBadInput} naming the node unless `x` has
/// rank 3 and its last axis is a multiple of `heads`.
Tensor split_heads(const Call& call, const Tensor& x, int64_t heads);

/// Rows of `past` followed by those of `x`, both [batch, heads, rows, size]; the same type. Throws when they do not
/// fit.
Tensor append_rows(const Call& call, const Tensor& past, const Tensor& x);

/// [2, batch, heads, rows, size]: keys, then values of the same shape.
Tensor stacked(const Call& call, const Tensor& keys, const Tensor& values);

/// The attention of q, k and v, [batch, heads, rows, size] of type T, into a new `y`: [batch, rows, heads * size] when
/// `merged`, else [batch, heads, rows, size]; the scale is 1 / sqrt(size). Throws when the shapes do not fit together.
/// Holds pointers into all four.
template <class T>
Attend<T> attend_heads(const Call& call, const Tensor& q, const Tensor& k, const Tensor& v, bool merged, Tensor& y);

extern template Attend<float> attend_heads(const Call&, const Tensor&, const Tensor&, const Tensor&, bool, Tensor&);
extern template Attend<double> attend_heads(const Call&, const Tensor&, const Tensor&, const Tensor&, bool, Tensor&);

}  // namespace mlopt::reference
