#include "backends/cpu/attention_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/activation.h"
#include "backends/cpu/rows.h"
#include "core/base/align.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kLine = 16;  // elements of a cache line
/// Elements of a block of scores, which stays in the second cache, and steps of the inner axis for which a panel stays
/// in the first.
constexpr int64_t kScores = 48 * 1024, kDepthStep = 384;

/// Queries of a head's keys for which it is faster to read these as they lie, however many there are.
constexpr int64_t kFew = 4;
constexpr float kNever = -std::numeric_limits<float>::infinity();

}  // namespace

Expected<std::array<int64_t, 3>> mask_strides(const Dims& mask, const AttentionShape& s) {
  const Dims full{s.batch, s.heads, s.queries, s.keys};
  if (mask.empty() || mask.size() > 4 || mask.back() != s.keys) return Decline{"the mask has other keys"};
  std::array<int64_t, 3> strides = {};
  int64_t step = s.keys;
  for (size_t back = 2; back <= mask.size(); ++back) {
    const int64_t dim = mask[mask.size() - back];
    if (dim != 1 && dim != full[4 - back]) return Decline{"the mask does not fit"};
    if (dim != 1) strides[4 - back] = step;
    step *= dim;
  }
  return strides;
}

AttentionPlan::AttentionPlan(const AttentionShape& shape, int threads)
    : s_(shape),
      kernels_(product_kernels()),
      keys_{s_.depth, s_.keys, kernels_.lanes, kernels_.width},
      values_{s_.keys, s_.value_depth, kernels_.lanes, kernels_.width},
      score_stride_(round_up(s_.keys, kLine)) {
  const int64_t most = std::max<int64_t>(1, kScores / score_stride_ / kernels_.rows) * kernels_.rows;
  blocks_ = ceil_div(s_.queries, most);
  query_block_ = ceil_div(s_.queries, blocks_);
  few_ = blocks_ == 1 && s_.queries * s_.heads / s_.kv_heads <= kFew;
  constexpr double kGrain = 1 << 17;  // multiplications below which a second thread costs more than it brings
  const auto scores = static_cast<double>(s_.batch * s_.heads * s_.queries) * static_cast<double>(s_.keys);
  const double work = scores * static_cast<double>(s_.depth + s_.value_depth);
  shares_ = static_cast<int64_t>(std::clamp<double>(work / kGrain, 1, std::max(1, threads)));
  shares_ = std::min(shares_, s_.batch * s_.heads * blocks_);
  // What reads the same keys stays together where there is enough of it.
  const int64_t together = s_.batch * s_.kv_heads;
  parts_ = shares_ == 1 || together < shares_ ? shares_ : together;
}

int64_t AttentionPlan::key_elements() const { return few_ ? 0 : round_up(keys_.elements(), kLine); }
int64_t AttentionPlan::value_elements() const { return few_ ? 0 : round_up(values_.elements(), kLine); }

size_t AttentionPlan::bytes_each() const {
  const int64_t floats = key_elements() + value_elements() + score_elements() + round_up(score_rows(), kLine);
  const int64_t ranges = few_ ? 2 * score_rows() : groups_of(query_block_);
  return static_cast<size_t>(floats) * sizeof(float) + static_cast<size_t>(round_up(ranges, kLine)) * sizeof(int64_t);
}

size_t AttentionPlan::workspace_bytes() const { return static_cast<size_t>(shares_) * bytes_each(); }

AttentionPlan::Space AttentionPlan::space(std::byte* memory) const {
  float* keys = reinterpret_cast<float*>(memory);
  float* values = keys + key_elements();
  float* scores = values + value_elements();
  float* sums = scores + score_elements();
  float* rest = sums + round_up(score_rows(), kLine);
  return {keys, values, scores, sums, reinterpret_cast<int64_t*>(rest), reinterpret_cast<Range*>(rest)};
}

AttentionPlan::Block AttentionPlan::block(int64_t index) const {
  const int64_t head = index / blocks_, begin = index % blocks_ * query_block_;
  return {head / s_.heads, head % s_.heads, begin, std::min(begin + query_block_, s_.queries)};
}

AttentionPlan::Place AttentionPlan::query_place(int64_t batch, int64_t head, int64_t size) const {
  if (s_.rows_first) return {(batch * s_.queries * s_.heads + head) * size, s_.heads * size};
  return {(batch * s_.heads + head) * s_.queries * size, size};
}

AttentionPlan::Place AttentionPlan::key_place(int64_t batch, int64_t head, int64_t size) const {
  if (s_.keys_first) return {(batch * s_.keys * s_.kv_heads + head) * size, s_.kv_heads * size};
  return {(batch * s_.kv_heads + head) * s_.keys * size, size};
}

void AttentionPlan::run(const AttentionArgs& args, std::byte* workspace) const {
  take_turns(shares_, parts_, [&](int64_t worker, int64_t part) {
    run_part(args, part, space(workspace + static_cast<size_t>(worker) * bytes_each()));
  });
}

void AttentionPlan::run_part(const AttentionArgs& args, int64_t part, const Space& space) const {
  const int64_t total = s_.batch * s_.heads * blocks_, end = total * (part + 1) / parts_;
  if (few_) {
    const int64_t shared = s_.heads / s_.kv_heads;
    for (int64_t i = total * part / parts_; i < end;) {
      const int64_t next = std::min(end, (i / shared + 1) * shared);
      run_few(args, i, next, space);
      i = next;
    }
    return;
  }
  int64_t packed = -1;
  for (int64_t i = total * part / parts_; i < end; ++i) {
    const Block b = block(i);
    const int64_t head = b.batch * s_.kv_heads + b.head * s_.kv_heads / s_.heads;
    if (head != packed) pack(args, b, space);
    packed = head;
    run_block(args, b, space);
  }
}

void AttentionPlan::pack(const AttentionArgs& args, const Block& b, const Space& space) const {
  const int64_t head = b.head * s_.kv_heads / s_.heads, keys = args.spans ? args.spans[b.batch].keys : s_.keys;
  const Place k = key_place(b.batch, head, s_.depth), v = key_place(b.batch, head, s_.value_depth);
  // Later panels repair what earlier ones write beyond their place.
  for (int64_t i = 0; i < ceil_div(keys, keys_.width); ++i)
    kernels_.pack(args.k + k.begin + i * keys_.width * k.stride, k.stride, 1, keys_.columns_of(i), s_.depth,
                  space.keys + keys_.offset_of(i), keys_.width_of(i));
  for (int64_t i = 0; i < values_.panels(); ++i)
    kernels_.pack(args.v + v.begin + i * values_.width, 1, v.stride, values_.columns_of(i), keys,
                  space.values + values_.offset_of(i), values_.width_of(i));
}

const float* AttentionPlan::mask_of(const AttentionArgs& args, const Block& b) const {
  return args.mask ? args.mask + b.batch * s_.mask[0] + b.head * s_.mask[1] + b.begin * s_.mask[2] : nullptr;
}

/// Of a row of the block.
AttentionPlan::Range AttentionPlan::range_of(const AttentionArgs& args, const Block& b, int64_t row) const {
  if (!args.spans) return {0, s_.keys};
  const KeySpan& span = args.spans[b.batch];
  const int64_t next = span.position + b.begin + row + 1, end = std::min(next, span.keys);
  return {s_.window > 0 ? std::clamp<int64_t>(next - s_.window, 0, end) : 0, end};
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

/// How many keys each group of rows sees, at least one, which may be hidden too.
void AttentionPlan::find_seen(const AttentionArgs& args, const Block& b, const Space& space) const {
  const int64_t rows = b.rows(), groups = groups_of(rows);
  const float* mask = mask_of(args, b);
  for (int64_t g = 0; g < groups; ++g) {
    const auto [row, end] = group(rows, g, groups);
    int64_t seen = range_of(args, b, end - 1).end;
    // In a window there may be nothing but keys that a finite number hides, which are all alike then.
    if (mask && s_.window == 0) seen = std::min(seen, seen_panels(mask + row * s_.mask[2], end - row) * keys_.width);
    space.seen[g] = std::max<int64_t>(1, seen);
  }
}

void AttentionPlan::run_block(const AttentionArgs& args, const Block& b, const Space& space) const {
  const Place q = query_place(b.batch, b.head, s_.depth), out = query_place(b.batch, b.head, s_.value_depth);
  find_seen(args, b, space);
  ProductArgs scores;
  scores.a = {args.q + q.begin + b.begin * q.stride, q.stride, 1};
  scores.c = space.scores;
  scores.c_stride = score_stride_;
  scores.alpha = s_.scale;
  if (s_.cap == 0) (s_.mask[2] == 0 ? scores.bias : scores.addend) = mask_of(args, b);
  scores.addend_stride = s_.mask[2];
  multiply(scores, b.rows(), {keys_, space.keys, space.seen, nullptr});
  exponentiate(args, b, space);
  ProductArgs products;
  products.a = {space.scores, score_stride_, 1};
  products.c = args.out + out.begin + b.begin * out.stride;
  products.c_stride = out.stride;
  multiply(products, b.rows(), {values_, space.values, nullptr, space.seen});
  for (int64_t i = 0; i < b.rows(); ++i)
    affine(products.c + i * out.stride, products.c + i * out.stride, s_.value_depth, 1 / space.sums[i], 0);
}

/// The scores of one query, and the mask, where it is not added yet.
void AttentionPlan::cap(const float* mask, float* row, const Range& range) const {
  const int64_t count = range.end - range.begin;
  float* scores = row + range.begin;
  affine(scores, scores, count, 1 / s_.cap, 0);
  apply_here({Fn::kTanh}, scores, scores, count);
  affine(scores, scores, count, s_.cap, 0);
  if (mask) add_scaled(scores, mask + range.begin, count, 1);
}

/// Scores become their exponentials, and zeros up to `seen` where they are hidden; gives their sum, with that of the
/// sink. Rows without keys become zeros, and so do `masked` ones whose keys are all hidden, as the standard has it, or
/// NaN.
float AttentionPlan::exponentiate_row(float* row, const Range& range, int64_t seen, bool masked, float sink) const {
  float* scores = row + range.begin;
  const int64_t count = range.end - range.begin;
  const float most = count > 0 ? fold_row(Fold::kMax, scores, count) : kNever;
  std::fill(row, scores, 0.0f);
  std::fill(row + range.end, row + seen, 0.0f);
  if (count == 0 || (masked && most == kNever)) {
    std::fill_n(scores, count, s_.hidden_are_nan ? std::numeric_limits<float>::quiet_NaN() : 0.0f);
    return 1;
  }
  const float shift = std::max(most, sink);
  return exp_row(scores, scores, count, shift) + (sink == kNever ? 0 : std::exp(sink - shift));
}

float AttentionPlan::sink_of(const AttentionArgs& args, const Block& b) const {
  return args.sinks ? args.sinks[b.head] : s_.sink ? 0 : kNever;
}

/// The scores of a block.
void AttentionPlan::exponentiate(const AttentionArgs& args, const Block& b, const Space& space) const {
  const int64_t rows = b.rows(), groups = groups_of(rows);
  const float* mask = mask_of(args, b);
  const float sink = sink_of(args, b);
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t seen = space.seen[g];
    const auto [first, end] = group(rows, g, groups);
    for (int64_t i = first; i < end; ++i) {
      float* row = space.scores + i * score_stride_;
      const Range all = range_of(args, b, i), range{std::min(all.begin, seen), std::min(all.end, seen)};
      if (s_.cap != 0) cap(mask ? mask + i * s_.mask[2] : nullptr, row, range);
      space.sums[i] = exponentiate_row(row, range, seen, mask != nullptr, sink);
    }
  }
}

/// c = alpha a panels + addend + bias for so many rows.
void AttentionPlan::multiply(const ProductArgs& args, int64_t rows, const Panels& right) const {
  const PanelLayout& layout = right.layout;
  const int64_t groups = groups_of(rows);
  Tile t;
  t.alpha = args.alpha;
  t.c_stride = args.c_stride;
  for (int64_t panel = 0; panel < layout.panels(); ++panel) {
    const auto& kernels = kernels_.tile[0][layout.width_of(panel) / layout.lanes - 1];
    const int64_t column = panel * layout.width;
    t.columns = layout.columns_of(panel);
    for (int64_t k = 0; k < layout.depth; k += kDepthStep) {
      t.b = right.data + layout.offset_of(panel) + k * layout.width_of(panel);
      t.bias = k == 0 && args.bias ? args.bias + column : nullptr;
      const float* base = k == 0 ? args.addend : args.c;
      t.base_stride = k == 0 ? args.addend_stride : args.c_stride;
      for (int64_t g = 0; g < groups; ++g) {
        const auto [row, end] = group(rows, g, groups);
        t.depth = std::min(kDepthStep, (right.depth ? right.depth[g] : layout.depth) - k);
        if (t.depth <= 0 || (right.columns && column >= right.columns[g])) continue;
        t.a = args.a.from(row, k);
        t.c = args.c + row * args.c_stride + column;
        t.base = base ? base + row * t.base_stride + column : nullptr;
        t.ahead = t.b + (g + 1) * t.depth * ProductKernels::kAhead;
        kernels[end - row - 1](t);
      }
    }
  }
}

}  // namespace mlopt::cpu
