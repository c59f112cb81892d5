#include "backends/cpu/attention_plan.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/rows.h"
#include "core/base/align.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kLine = 16;  // elements of a cache line
/// Elements of a block of scores, which stays in the second cache, and steps of the inner axis for which a panel stays
/// in the first.
constexpr int64_t kScores = 48 * 1024, kDepthStep = 384;

/// A number of a mask that leaves nothing of a key beside one that is seen: scores of more than 3e7, which could make
/// up for it, have no digits left that a softmax could tell them apart by.
constexpr float kHidden = -1e8f;

}  // namespace

AttentionPlan::AttentionPlan(const AttentionShape& shape, int threads)
    : s_(shape),
      kernels_(product_kernels()),
      keys_{s_.depth, s_.keys, kernels_.lanes, kernels_.width},
      values_{s_.keys, s_.value_depth, kernels_.lanes, kernels_.width},
      score_stride_(round_up(s_.keys, kLine)) {
  const int64_t most = std::max<int64_t>(1, kScores / score_stride_ / kernels_.rows) * kernels_.rows;
  blocks_ = ceil_div(s_.queries, most);
  query_block_ = ceil_div(s_.queries, blocks_);
  constexpr double kGrain = 1 << 17;  // multiplications below which a second thread costs more than it brings
  const auto scores = static_cast<double>(s_.batch * s_.heads * s_.queries) * static_cast<double>(s_.keys);
  const double work = scores * static_cast<double>(s_.depth + s_.value_depth);
  shares_ = static_cast<int64_t>(std::clamp<double>(work / kGrain, 1, std::max(1, threads)));
  shares_ = std::min(shares_, s_.batch * s_.heads * blocks_);
  // What reads the same keys stays together where there is enough of it.
  const int64_t together = s_.batch * s_.kv_heads;
  parts_ = shares_ == 1 || together < shares_ ? shares_ : together;
}

size_t AttentionPlan::workspace_bytes() const {
  const int64_t packed = round_up(keys_.elements(), kLine) + round_up(values_.elements(), kLine);
  return static_cast<size_t>(shares_ * (packed + score_elements() + round_up(query_block_, kLine))) * sizeof(float);
}

AttentionPlan::Block AttentionPlan::block(int64_t index) const {
  const int64_t head = index / blocks_, begin = index % blocks_ * query_block_;
  return {head / s_.heads, head % s_.heads, begin, std::min(begin + query_block_, s_.queries)};
}

AttentionPlan::Place AttentionPlan::place(int64_t batch, int64_t head, int64_t heads, int64_t rows,
                                          int64_t size) const {
  if (s_.rows_first) return {(batch * rows * heads + head) * size, heads * size};
  return {(batch * heads + head) * rows * size, size};
}

void AttentionPlan::run(const AttentionArgs& args, std::byte* workspace) const {
  const auto each = static_cast<int64_t>(workspace_bytes() / sizeof(float)) / shares_;
  take_turns(shares_, parts_, [&](int64_t worker, int64_t part) {
    float* keys = reinterpret_cast<float*>(workspace) + worker * each;
    float* values = keys + round_up(keys_.elements(), kLine);
    float* scores = values + round_up(values_.elements(), kLine);
    run_part(args, part, {keys, values, scores, scores + score_elements()});
  });
}

void AttentionPlan::run_part(const AttentionArgs& args, int64_t part, const Space& space) const {
  const int64_t total = s_.batch * s_.heads * blocks_;
  int64_t packed = -1;
  for (int64_t i = total * part / parts_; i < total * (part + 1) / parts_; ++i) {
    const Block b = block(i);
    const int64_t head = b.batch * s_.kv_heads + b.head * s_.kv_heads / s_.heads;
    if (head != packed) pack(args, b, space);
    packed = head;
    run_block(args, b, space);
  }
}

void AttentionPlan::pack(const AttentionArgs& args, const Block& b, const Space& space) const {
  const int64_t head = b.head * s_.kv_heads / s_.heads;
  const Place k = place(b.batch, head, s_.kv_heads, s_.keys, s_.depth),
              v = place(b.batch, head, s_.kv_heads, s_.keys, s_.value_depth);
  // Later panels repair what earlier ones write beyond their place.
  for (int64_t i = 0; i < keys_.panels(); ++i)
    kernels_.pack(args.k + k.begin + i * keys_.width * k.stride, k.stride, 1, keys_.columns_of(i), s_.depth,
                  space.keys + keys_.offset_of(i), keys_.width_of(i));
  for (int64_t i = 0; i < values_.panels(); ++i)
    kernels_.pack(args.v + v.begin + i * values_.width, 1, v.stride, values_.columns_of(i), s_.keys,
                  space.values + values_.offset_of(i), values_.width_of(i));
}

/// Panels of keys up to the last of which any of so many queries sees one.
int64_t AttentionPlan::seen_panels(const float* mask, int64_t rows) const {
  const auto hides = [&](int64_t row, int64_t panel) {
    const float* numbers = mask + row * s_.mask[2] + panel * keys_.width;
    return fold_row(Fold::kMax, numbers, keys_.columns_of(panel)) <= kHidden;
  };
  if (s_.mask[2] == 0) rows = 1;
  int64_t seen = 0;
  for (int64_t i = rows - 1; i >= 0; --i) {
    int64_t end = keys_.panels();
    while (end > seen && hides(i, end - 1)) --end;
    if (end == keys_.panels()) return end;
    seen = end;
  }
  // A row that a finite number hides whole sees all keys alike.
  for (int64_t i = 0; i < rows; ++i) {
    int64_t first = 0;
    while (first < seen && hides(i, first)) ++first;
    if (first == seen) return keys_.panels();
  }
  return seen;
}

void AttentionPlan::run_block(const AttentionArgs& args, const Block& b, const Space& space) const {
  const int64_t rows = b.end - b.begin;
  const Place q = place(b.batch, b.head, s_.heads, s_.queries, s_.depth),
              out = place(b.batch, b.head, s_.heads, s_.queries, s_.value_depth);
  ProductArgs scores;
  scores.a = {args.q + q.begin + b.begin * q.stride, q.stride, 1};
  scores.c = space.scores;
  scores.c_stride = score_stride_;
  scores.alpha = s_.scale;
  int64_t panels = keys_.panels();
  if (args.mask) {
    const float* mask = args.mask + b.batch * s_.mask[0] + b.head * s_.mask[1] + b.begin * s_.mask[2];
    (s_.mask[2] == 0 ? scores.bias : scores.addend) = mask;
    scores.addend_stride = s_.mask[2];
    panels = seen_panels(mask, rows);
  }
  multiply(scores, rows, {keys_, space.keys, panels, s_.depth});
  const int64_t seen = std::min(s_.keys, panels * keys_.width);
  ProductArgs products;
  products.a = {space.scores, score_stride_, 1};
  products.c = args.out + out.begin + b.begin * out.stride;
  products.c_stride = out.stride;
  exponentiate(rows, seen, args.mask != nullptr, space);
  multiply(products, rows, {values_, space.values, values_.panels(), seen});
  for (int64_t i = 0; i < rows; ++i)
    affine(products.c + i * out.stride, products.c + i * out.stride, s_.value_depth, 1 / space.sums[i], 0);
}

/// Scores become their exponentials, whose sums are kept.
void AttentionPlan::exponentiate(int64_t rows, int64_t keys, bool masked, const Space& space) const {
  for (int64_t i = 0; i < rows; ++i) {
    float* row = space.scores + i * score_stride_;
    const float most = fold_row(Fold::kMax, row, keys);
    // A query that the mask hides every key from gives zeros, as the standard's Attention does.
    const bool alone = masked && most == -std::numeric_limits<float>::infinity();
    if (alone) std::fill_n(row, keys, 0.0f);
    space.sums[i] = alone ? 1 : exp_row(row, row, keys, most);
  }
}

/// c = alpha a panels + addend + bias for so many rows.
void AttentionPlan::multiply(const ProductArgs& args, int64_t rows, const Panels& right) const {
  const PanelLayout& layout = right.layout;
  const int64_t groups = ceil_div(rows, kernels_.rows);
  Tile t;
  t.alpha = args.alpha;
  t.c_stride = args.c_stride;
  for (int64_t panel = 0; panel < right.count; ++panel) {
    const auto& kernels = kernels_.tile[0][layout.width_of(panel) / layout.lanes - 1];
    const int64_t column = panel * layout.width;
    t.columns = layout.columns_of(panel);
    for (int64_t k = 0; k < right.depth; k += kDepthStep) {
      t.depth = std::min(kDepthStep, right.depth - k);
      t.b = right.data + layout.offset_of(panel) + k * layout.width_of(panel);
      t.bias = k == 0 && args.bias ? args.bias + column : nullptr;
      const float* base = k == 0 ? args.addend : args.c;
      t.base_stride = k == 0 ? args.addend_stride : args.c_stride;
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t row = rows * g / groups, count = rows * (g + 1) / groups - row;
        t.a = args.a.from(row, k);
        t.c = args.c + row * args.c_stride + column;
        t.base = base ? base + row * t.base_stride + column : nullptr;
        t.ahead = t.b + (g + 1) * t.depth * ProductKernels::kAhead;
        kernels[count - 1](t);
      }
    }
  }
}

}  // namespace mlopt::cpu
