#pragma once
#include "backends/reference/compute.h"

namespace mlopt::reference {

/// The mask input of com.microsoft's attention operators as numbers to add, [batch, 1, 1 or queries, keys]: 0 where a
/// key is seen and `hidden` elsewhere. `mask` holds integers: [batch] (keys seen), [2 * batch] (end, then start),
/// [batch, keys], [batch, queries, keys] or [batch, 1, most, most] (not 0: seen). Throws Error{kBadInput} naming the
/// node for other shapes.
Tensor contrib_mask(const Call& call, const Tensor& mask, int64_t batch, int64_t queries, int64_t keys, double hidden);

/// The columns [from, from + heads * size) of x [batch, rows, width] as [batch, heads, rows, size].
Tensor columns_as_heads(const Call& call, const Tensor& x, int64_t from, int64_t heads, int64_t size);

/// What is the same in com.microsoft's attention operators once q, k and v are [batch, heads, rows, size] of one
/// compute type, with the past in front of k and v. All attributes are read from the node.
struct ContribAttention {
  Tensor q, k, v;
  Tensor mask;         ///< from contrib_mask(), or undefined
  const Tensor* bias;  ///< broadcasts to [batch, heads, queries, keys], or null
  int64_t past = 0;    ///< keys that precede the queries when the node is causal

  /// The output [batch, queries, heads * size], and the scores into `scores` when it is not null.
  Tensor run(const Call& call, Tensor* scores = nullptr) const;
};

}  // namespace mlopt::reference
