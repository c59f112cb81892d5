// AttentionPlan where few queries read the keys of a head, as those of a decoder's next token do: keys and values are
// read once, from where they lie.
#include <algorithm>

#include "backends/cpu/attention_plan.h"
#include "backends/cpu/row_dots.h"
#include "backends/cpu/rows.h"

namespace mlopt::cpu {

constexpr int64_t kKeys = 64;  // which stay in the first cache from one query to the next

/// The i-th query of those that read the keys of head `first`, of all samples.
AttentionPlan::Block AttentionPlan::query(int64_t first, int64_t i) const {
  const int64_t head = first + i / s_.queries, row = i % s_.queries;
  return {head / s_.heads, head % s_.heads, row, row + 1};
}

/// The keys of a query up to the last that its mask does not hide; all where there is none.
AttentionPlan::Range AttentionPlan::visible(const AttentionArgs& args, const Block& query) const {
  const Range all = range_of(args, query, 0);
  const float* mask = mask_of(args, query);
  int64_t end = all.end;
  while (mask && end > all.begin && mask[end - 1] <= kHidden) --end;
  return end > all.begin ? Range{all.begin, end} : all;
}

/// Calls fn(i, keys) for each query and the keys that it sees, piece by piece, all queries for one piece before the
/// next.
template <class Fn>
void AttentionPlan::for_pieces(std::span<const Range> seen, const Fn& fn) {
  int64_t most = 0;
  for (const Range& range : seen) most = std::max(most, range.end);
  for (int64_t key = 0; key < most; key += kKeys) {
    for (size_t i = 0; i < seen.size(); ++i) {
      const Range piece{std::max(seen[i].begin, key), std::min(seen[i].end, key + kKeys)};
      if (piece.begin < piece.end) fn(static_cast<int64_t>(i), piece);
    }
  }
}

void AttentionPlan::run_few(const AttentionArgs& args, int64_t first, int64_t end, const Space& space) const {
  const int64_t rows = (end - first) * s_.queries;
  const Block head = query(first, 0);
  const int64_t kv_head = head.head * s_.kv_heads / s_.heads;
  const Place k = key_place(head.batch, kv_head, s_.depth), v = key_place(head.batch, kv_head, s_.value_depth);
  const auto rows_of = [](const float* data, const Place& place, const Range& keys, int64_t width) {
    return RowsView{data + place.begin + keys.begin * place.stride, place.stride, keys.end - keys.begin, width};
  };
  const auto at = [&](int64_t i, int64_t size) {
    const Block q = query(first, i);
    const Place place = query_place(q.batch, q.head, size);
    return place.begin + q.begin * place.stride;
  };
  const auto scores = [&](int64_t i) { return space.scores + i * score_stride_; };
  const std::span seen(space.ranges, static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) seen[static_cast<size_t>(i)] = visible(args, query(first, i));
  for_pieces(seen, [&](int64_t i, const Range& keys) {
    dot_rows(args.q + at(i, s_.depth), rows_of(args.k, k, keys, s_.depth), s_.scale, scores(i) + keys.begin);
  });
  for (int64_t i = 0; i < rows; ++i) {
    space.sums[i] = finish_scores(args, query(first, i), seen[static_cast<size_t>(i)], scores(i));
    std::fill_n(args.out + at(i, s_.value_depth), s_.value_depth, 0.0f);
  }
  for_pieces(seen, [&](int64_t i, const Range& keys) {
    add_weighted_rows(scores(i) + keys.begin, rows_of(args.v, v, keys, s_.value_depth),
                      args.out + at(i, s_.value_depth));
  });
  for (int64_t i = 0; i < rows; ++i) {
    float* out = args.out + at(i, s_.value_depth);
    affine(out, out, s_.value_depth, 1 / space.sums[i], 0);
  }
}

/// The exponentials of one query's scores, where its mask is added first; gives their sum.
float AttentionPlan::finish_scores(const AttentionArgs& args, const Block& query, const Range& seen,
                                   float* scores) const {
  const float* mask = mask_of(args, query);
  if (s_.cap != 0)
    cap(mask, scores, seen);
  else if (mask)
    add_scaled(scores + seen.begin, mask + seen.begin, seen.end - seen.begin, 1);
  return exponentiate_row(scores, seen, seen.end, mask != nullptr, sink_of(args, query));
}

}  // namespace mlopt::cpu
