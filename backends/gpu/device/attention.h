#pragma once
// Attention and the rotations of its operands.
#include "backends/gpu/device/launch.h"
#include "backends/gpu/device/walk.h"

namespace mlopt::gpu {

/// Distances in elements between neighbouring samples, heads and rows; the numbers of a row lie side by side.
struct HeadsAt {
  int64_t batch, head, row;
};

/// out = softmax(softcap(scale q k') + mask) v for each head, whose scores are never stored; query head h reads key
/// head h / (heads / kv_heads). Query i of a sample is at i + past, or, where lengths are given and it is no prompt, at
/// the end of its keys.
struct AttentionArgs {
  static constexpr int kMostDepth = 256;
  Elem type;
  int64_t batch, heads, kv_heads, queries, keys, depth, value_depth;
  float scale, softcap;  ///< softcap c: c tanh(s / c); 0: none
  bool causal;           ///< no key behind the query
  int64_t left, right;   ///< keys around a query that it sees; -1: all
  int64_t past;          ///< keys before the first query
  HeadsAt q_at, k_at, v_at, out_at;
  Elem mask_type;           ///< kBool: false hides; else numbers to add
  int64_t mask_width;       ///< keys that it has; the others are hidden
  int64_t mask_strides[4];  ///< of batch, heads, queries and keys
  bool hidden_are_nan;      ///< a query that the mask hides all keys from gives NaN, not 0
  const void *q, *k, *v, *mask;
  const int64_t* lengths;  ///< keys of each sample; null: all
  const int32_t* last;     ///< the same less 1; null: not given
  bool prompt;             ///< there are no keys before the queries
  void* out;
};
Status attention(Queue& queue, const AttentionArgs& args);

/// For heads from `first` on, of batch * heads, as many as said: weights [heads, queries, keys] of the type, the
/// softmax of scores [heads, queries, keys], which are scaled already. Lengths of samples are not looked at.
struct AttentionWeightsArgs {
  AttentionArgs attention;
  int64_t first, heads;
  const float* scores;
  void* weights;
};
Status attention_weights(Queue& queue, const AttentionWeightsArgs& args);

/// New rows, turned by their positions where there are tables, behind those of a cache, of which `last` says how many
/// are in use: out [batch, heads, capacity, size] has the cache's first last + 1 - rows rows (none of a prompt), then
/// the new ones, then zeros. `alone`: the new ones only, capacity = rows.
struct CacheArgs {
  Elem type;
  bool alone, prompt, interleaved;
  int64_t batch, heads, rows, size, past, capacity, half, table;
  int64_t longest;  ///< rows in use of any sample, with the new ones
  HeadsAt at;       ///< of what is new
  const int32_t* last;
  const void *in, *cache, *cosines, *sines;  ///< tables [table, half], or null
  const int64_t* positions;                  ///< [batch, rows], or null: those behind the cache
  void* out;
};
Status extend_cache(Queue& queue, const CacheArgs& args);

/// The first 2 * half numbers of each row of in ([batch, heads, rows, size], or [batch, rows, heads, size] where
/// `packed`) as pairs, turned by the angles of its position in tables [table, half]. Pairs are neighbours where
/// `interleaved`, else half apart.
struct RotaryArgs {
  Elem type;
  bool packed, interleaved;
  bool start_only;  ///< positions has one number, that of the first row of all samples
  bool shared;      ///< without positions: all samples have the rows of one
  int64_t batch, heads, rows, size, half, table;
  const void *in, *cosines, *sines;
  const int64_t* positions;  ///< [batch, rows]; null: each row has its own in the tables
  void* out;
};
Status rotary(Queue& queue, const RotaryArgs& args);

}  // namespace mlopt::gpu
