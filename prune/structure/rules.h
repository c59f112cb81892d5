#pragma once
#include <span>

#include "prune/structure/rewriting.h"
#include "prune/structure/rule.h"

namespace mlopt::prune {

/// Null for an operator that is not in the table: what it touches stays.
const AxisRule* rule_of(const Node& node);

namespace rules {

// rules/elementwise.cc
void unary(Ties& t);      ///< input 0 element by element; further inputs are numbers
void broadcast(Ties& t);  ///< any number of inputs, broadcast

// rules/convolution.cc
void convolution(Ties& t);
void rewrite_convolution(Rewriting& r);
void transposed_convolution(Ties& t);
void rewrite_transposed_convolution(Rewriting& r);

// rules/product.cc
void matmul(Ties& t);
void gemm(Ties& t);

// rules/einsum.cc
void einsum(Ties& t);

// rules/normalization.cc
void batch_normalization(Ties& t);
void instance_normalization(Ties& t);
void group_normalization(Ties& t);
void rewrite_group_normalization(Rewriting& r);
void layer_normalization(Ties& t);
void softmax(Ties& t);
void over_channels(Ties& t);  ///< LRN and the like
void skip_normalization(Ties& t);

// rules/attention.cc
void attention(Ties& t);
void rewrite_attention(Rewriting& r);
void multi_head_attention(Ties& t);
void rewrite_multi_head_attention(Rewriting& r);
void packed_attention(Ties& t);
void rewrite_packed_attention(Rewriting& r);
void group_query_attention(Ties& t);
void rewrite_group_query_attention(Rewriting& r);
void rotary_embedding(Ties& t);
void rewrite_rotary_embedding(Rewriting& r);

// rules/window.cc
void pool(Ties& t);
void resize(Ties& t);
void rewrite_resize(Rewriting& r);

// rules/reshape.cc
void reshape(Ties& t);
void rewrite_reshape(Rewriting& r);
void flatten(Ties& t);
void squeeze(Ties& t);
void unsqueeze(Ties& t);

// rules/movement.cc
void transpose(Ties& t);
void expand(Ties& t);
void rewrite_expand(Rewriting& r);
void tile(Ties& t);
void reverse_sequence(Ties& t);
void constant_of_shape(Ties& t);
void rewrite_constant_of_shape(Rewriting& r);
void depth_to_space(Ties& t);
void space_to_depth(Ties& t);

// rules/concat.cc
void concat(Ties& t);
void split(Ties& t);
void rewrite_split(Rewriting& r);

// rules/selection.cc
void slice(Ties& t);
void rewrite_slice(Rewriting& r);
void gather(Ties& t);
void rewrite_gather(Rewriting& r);
void gather_nd(Ties& t);
void pad(Ties& t);

// rules/reduction.cc
void reduce_sum(Ties& t);  ///< zeros add nothing
void reduce(Ties& t);      ///< any other reduction
void arg_extreme(Ties& t);
void top_k(Ties& t);

// rules/recurrent.cc
void recurrent(Ties& t);
void rewrite_recurrent(Rewriting& r);

// rules/quantization.cc
void quantization(Ties& t);

// rules/shape.cc
void shape(Ties& t);

}  // namespace rules
}  // namespace mlopt::prune
