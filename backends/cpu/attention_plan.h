#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "backends/cpu/packed_product.h"
#include "core/base/expected.h"
#include "core/tensor/dims.h"

namespace mlopt::cpu {

/// softmax(scale Q K^T + mask) V for each head, row-major: Q [batch, heads, queries, depth], K [batch, kv_heads, keys,
/// depth], V [batch, kv_heads, keys, value_depth], or with their rows before their heads; neighbouring heads share
/// those of K and V.
struct AttentionShape {
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, depth = 1, value_depth = 1;
  float scale = 1;
  float cap = 0;            ///< scores are cap tanh(scores / cap) before the mask is added; 0: they are not
  bool rows_first = false;  ///< Q [batch, queries, heads, depth], and what comes out
  bool keys_first = false;  ///< K [batch, keys, kv_heads, depth], and V
  /// Distances in elements between what belongs to neighbouring batches, heads and queries in the mask, 0: the same;
  /// keys lie side by side.
  std::array<int64_t, 3> mask = {};
  bool hidden_are_nan = false;  ///< what comes of a row whose keys the mask hides all is NaN, not 0
  bool sink = false;            ///< 0 is one more score, which takes its share of the sum
  int64_t window = 0;           ///< of the keys up to its own, those that a query with a KeySpan sees; 0: all
};

/// Where a sample's queries are among its keys. They see none behind their own.
struct KeySpan {
  int64_t position = 0;  ///< the key that is the first query's own
  int64_t keys = 0;      ///< so many are there; what follows them does not count
};

struct AttentionArgs {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  const float* mask = nullptr;     ///< null: none
  float* out = nullptr;            ///< [batch, heads, queries, value_depth], or rows first as well
  const KeySpan* spans = nullptr;  ///< of each sample; null: queries see all keys
  const float* sinks = nullptr;    ///< [heads], one more score of each, which takes its share of the sum; null: none
};

/// The strides of a mask that broadcasts to the scores and whose keys lie side by side; declines for others.
Expected<std::array<int64_t, 3>> mask_strides(const Dims& mask, const AttentionShape& shape);

/// Attention by blocks of queries whose scores stay in the cache from the first product to the second (as in Dao et
/// al., "FlashAttention", 2022, with whole rows of scores); where few queries read the keys of a head, these are read
/// from where they lie. Runs allocate nothing, give the same bits every time, and may overlap when each has a workspace
/// of its own. Keys at the end that are hidden from neighbouring queries, as many as a tile has rows, take no time, and
/// what is in them does not count.
class AttentionPlan {
 public:
  AttentionPlan(const AttentionShape& shape, int threads);

  /// Of what run() needs, aligned to 64 bytes.
  size_t workspace_bytes() const;
  void run(const AttentionArgs& args, std::byte* workspace) const;

 private:
  /// Keys that one query sees, but for the mask; rows of a block.
  struct Range {
    int64_t begin, end;
  };
  /// A thread's memory: packed keys and values of one head, the scores of one block of queries and their sums, and for
  /// each group of rows that a tile has the number of keys that they see. For few queries nothing is packed, and each
  /// has a range.
  struct Space {
    float *keys, *values, *scores, *sums;
    int64_t* seen;
    Range* ranges;
  };
  /// Some queries of one head.
  struct Block {
    int64_t batch, head, begin, end;

    int64_t rows() const { return end - begin; }
  };

  /// Where the matrix of one head begins, and how far its rows are apart, in elements.
  struct Place {
    int64_t begin, stride;
  };

  /// A packed matrix, and how many of its columns, or of its rows, each group of rows is multiplied by; null: all.
  struct Panels {
    const PanelLayout& layout;
    const float* data;
    const int64_t *columns, *depth;
  };

  Place query_place(int64_t batch, int64_t head, int64_t size) const;
  Place key_place(int64_t batch, int64_t head, int64_t size) const;
  Block block(int64_t index) const;
  /// Rows are multiplied in so many groups, as equal as they can be, each by one tile.
  int64_t groups_of(int64_t rows) const { return (rows + kernels_.rows - 1) / kernels_.rows; }
  static Range group(int64_t rows, int64_t index, int64_t groups) {
    return {rows * index / groups, rows * (index + 1) / groups};
  }
  /// How many rows of scores a thread has at a time.
  int64_t score_rows() const { return few_ ? s_.queries * s_.heads / s_.kv_heads : query_block_; }
  int64_t score_elements() const { return score_rows() * score_stride_; }
  int64_t key_elements() const;
  int64_t value_elements() const;
  size_t bytes_each() const;
  Space space(std::byte* memory) const;
  void run_part(const AttentionArgs& args, int64_t part, const Space& space) const;
  void pack(const AttentionArgs& args, const Block& block, const Space& space) const;
  void run_block(const AttentionArgs& args, const Block& block, const Space& space) const;
  const float* mask_of(const AttentionArgs& args, const Block& block) const;
  Range range_of(const AttentionArgs& args, const Block& block, int64_t row) const;
  int64_t seen_panels(const float* mask, int64_t rows) const;
  void find_seen(const AttentionArgs& args, const Block& block, const Space& space) const;
  void cap(const float* mask, float* row, const Range& range) const;
  float exponentiate_row(float* row, const Range& range, int64_t seen, bool masked, float sink) const;
  float sink_of(const AttentionArgs& args, const Block& block) const;
  void exponentiate(const AttentionArgs& args, const Block& block, const Space& space) const;
  void multiply(const ProductArgs& args, int64_t rows, const Panels& right) const;

  // attention_few.cc
  Block query(int64_t first, int64_t i) const;
  Range visible(const AttentionArgs& args, const Block& query) const;
  template <class Fn>
  static void for_pieces(std::span<const Range> seen, const Fn& fn);
  void run_few(const AttentionArgs& args, int64_t first, int64_t end, const Space& space) const;
  float finish_scores(const AttentionArgs& args, const Block& query, const Range& seen, float* scores) const;

  /// A number of a mask that leaves nothing of a key beside one that is seen: scores of more than 3e7, which could make
  /// up for it, have no digits left that a softmax could tell them apart by.
  static constexpr float kHidden = -1e8f;

  AttentionShape s_;
  ProductKernels kernels_;
  PanelLayout keys_, values_;
  int64_t score_stride_;                   ///< between the scores of neighbouring queries
  int64_t query_block_, blocks_, shares_;  ///< queries of a block, blocks of a head, threads
  bool few_;                               ///< so few queries read a head's keys that these are not packed
  int64_t parts_;                          ///< of the work, which threads take one after the other
};

}  // namespace mlopt::cpu
