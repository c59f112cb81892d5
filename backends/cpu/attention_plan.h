#pragma once
#include <array>
#include <cstddef>

#include "backends/cpu/packed_product.h"

namespace mlopt::cpu {

/// softmax(scale Q K^T + mask) V for each head, row-major: Q [batch, heads, queries, depth], K [batch, kv_heads, keys,
/// depth], V [batch, kv_heads, keys, value_depth], or all of them with their rows before their heads; neighbouring
/// heads share those of K and V.
struct AttentionShape {
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, depth = 1, value_depth = 1;
  float scale = 1;
  bool rows_first = false;  ///< Q [batch, queries, heads, depth] and so on
  /// Distances in elements between what belongs to neighbouring batches, heads and queries in the mask, 0: the same;
  /// keys lie side by side.
  std::array<int64_t, 3> mask = {};
};

struct AttentionArgs {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  const float* mask = nullptr;  ///< null: none
  float* out = nullptr;         ///< [batch, heads, queries, value_depth], or rows first as well
};

/// Attention by blocks of queries whose scores stay in the cache from the first product to the second (as in Dao et
/// al., "FlashAttention", 2022, with whole rows of scores). Runs allocate nothing, give the same bits every time, and
/// may overlap when each has a workspace of its own. Keys at the end that the mask hides from all queries of a block
/// take no time, and what is in them does not count.
class AttentionPlan {
 public:
  AttentionPlan(const AttentionShape& shape, int threads);

  /// Of what run() needs, aligned to 64 bytes.
  size_t workspace_bytes() const;
  void run(const AttentionArgs& args, std::byte* workspace) const;

 private:
  /// A thread's memory: packed keys and values of one head, and the scores of one block of queries and their sums.
  struct Space {
    float *keys, *values, *scores, *sums;
  };
  /// Some queries of one head.
  struct Block {
    int64_t batch, head, begin, end;
  };

  /// Where the matrix of one head begins, and how far its rows are apart, in elements.
  struct Place {
    int64_t begin, stride;
  };

  /// The first `count` panels of a packed matrix, and so many of its rows.
  struct Panels {
    const PanelLayout& layout;
    const float* data;
    int64_t count, depth;
  };

  Place place(int64_t batch, int64_t head, int64_t heads, int64_t rows, int64_t size) const;
  Block block(int64_t index) const;
  int64_t score_elements() const { return query_block_ * score_stride_; }
  void run_part(const AttentionArgs& args, int64_t part, const Space& space) const;
  void pack(const AttentionArgs& args, const Block& block, const Space& space) const;
  void run_block(const AttentionArgs& args, const Block& block, const Space& space) const;
  int64_t seen_panels(const float* mask, int64_t rows) const;
  void exponentiate(int64_t rows, int64_t keys, bool masked, const Space& space) const;
  void multiply(const ProductArgs& args, int64_t rows, const Panels& right) const;

  AttentionShape s_;
  ProductKernels kernels_;
  PanelLayout keys_, values_;
  int64_t score_stride_;                   ///< between the scores of neighbouring queries
  int64_t query_block_, blocks_, shares_;  ///< queries of a block, blocks of a head, threads
  int64_t parts_;                          ///< of the work, which threads take one after the other
};

}  // namespace mlopt::cpu
