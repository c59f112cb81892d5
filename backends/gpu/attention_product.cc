// Attention as two products and a softmax between them.
#include "backends/gpu/attention_product.h"

#include <algorithm>

#include "core/base/align.h"

namespace mlopt::gpu {
namespace {

constexpr int64_t kLeast = 32, kMostBytes = int64_t{64} << 20, kBytesAtOnce = int64_t{32} << 20;

bool is_dense(const HeadsAt& at, int64_t heads, int64_t rows, int64_t size) {
  return at.row == size && at.head == rows * size && at.batch == heads * rows * size;
}

/// From where heads lie to [batch, heads, rows, size]; nothing where that cannot be walked.
std::optional<Walk<2>> gathered(const AttentionArgs& a, const HeadsAt& at, int64_t rows, int64_t size, bool back) {
  const Dims dims{a.batch, a.heads, rows, size}, lies{at.batch, at.head, at.row, 1}, dense = row_major_strides(dims);
  const auto walk = back ? walk_over<2>(dims, {dense, lies}) : walk_over<2>(dims, {lies, dense});
  return walk ? std::optional(*walk) : std::nullopt;
}

ProductArgs product_of(const AttentionArgs& a, bool tf32, int64_t heads) {
  ProductArgs args{};
  args.type = a.type;
  args.tf32 = tf32;
  args.batch = heads;
  args.m = a.queries;
  args.alpha = 1;
  return args;
}

}  // namespace

std::optional<AttentionProducts> attention_products(const AttentionArgs& a, bool tf32) {
  if (a.type == Elem::kF32 && !tf32) return std::nullopt;
  if (a.queries < kLeast || a.keys < kLeast || a.kv_heads != a.heads) return std::nullopt;
  const int64_t width = a.type == Elem::kF32 ? 4 : 2, all = a.batch * a.heads;
  const int64_t each = a.queries * a.keys * static_cast<int64_t>(sizeof(float));
  if (each > kMostBytes) return std::nullopt;
  AttentionProducts made{};
  made.heads = std::clamp<int64_t>(kBytesAtOnce / each, 1, all);
  const auto take = [&](int64_t bytes) {
    const size_t at = made.bytes;
    made.bytes += static_cast<size_t>(round_up(bytes, 256));
    return at;
  };
  made.scores = take(made.heads * each);
  made.weights = take(made.heads * a.queries * a.keys * width);
  const auto copied = [&](const HeadsAt& at, int64_t rows, int64_t size, bool back, bool& copies, Walk<2>& walk,
                          size_t& where) {
    copies = !is_dense(at, a.heads, rows, size);
    if (!copies) return true;
    const auto found = gathered(a, at, rows, size, back);
    if (found) walk = *found;
    where = take(all * rows * size * width);
    return found.has_value();
  };
  const bool fits = copied(a.q_at, a.queries, a.depth, false, made.copies_q, made.q_walk, made.q) &&
                    copied(a.k_at, a.keys, a.depth, false, made.copies_k, made.k_walk, made.k) &&
                    copied(a.v_at, a.keys, a.value_depth, false, made.copies_v, made.v_walk, made.v) &&
                    copied(a.out_at, a.queries, a.value_depth, true, made.copies_out, made.out_walk, made.out);
  return fits ? std::optional(made) : std::nullopt;
}

void run_products(const Buffers& b, const AttentionArgs& a, const AttentionProducts& how, bool tf32,
                  std::byte* scratch) {
  const int width = a.type == Elem::kF32 ? 4 : 2;
  const auto dense = [&](bool copies, const Walk<2>& walk, const void* from, size_t to) {
    if (!copies) return static_cast<const std::byte*>(from);
    launch(b, &Kernels::copy, CopyArgs{width, walk, from, scratch + to});
    return static_cast<const std::byte*>(scratch + to);
  };
  const std::byte* q = dense(how.copies_q, how.q_walk, a.q, how.q);
  const std::byte* k = dense(how.copies_k, how.k_walk, a.k, how.k);
  const std::byte* v = dense(how.copies_v, how.v_walk, a.v, how.v);
  std::byte* out = how.copies_out ? scratch + how.out : static_cast<std::byte*>(a.out);
  const int64_t q_size = a.queries * a.depth, k_size = a.keys * a.depth, v_size = a.keys * a.value_depth,
                out_size = a.queries * a.value_depth, scores = a.queries * a.keys;
  for (int64_t first = 0; first < a.batch * a.heads; first += how.heads) {
    const int64_t heads = std::min(how.heads, a.batch * a.heads - first);
    ProductArgs left = product_of(a, tf32, heads);
    left.b_transposed = left.wide_out = true;
    left.n = a.keys, left.k = a.depth;
    left.a_stride = q_size, left.b_stride = k_size, left.out_stride = scores;
    left.alpha = a.scale;
    left.a = q + first * q_size * width, left.b = k + first * k_size * width;
    left.out = scratch + how.scores;
    launch(b, &Kernels::product, left);
    launch(b, &Kernels::attention_weights,
           AttentionWeightsArgs{a, first, heads, reinterpret_cast<const float*>(scratch + how.scores),
                                scratch + how.weights});
    ProductArgs right = product_of(a, tf32, heads);
    right.n = a.value_depth, right.k = a.keys;
    right.a_stride = scores, right.b_stride = v_size, right.out_stride = out_size;
    right.a = scratch + how.weights, right.b = v + first * v_size * width;
    right.out = out + first * out_size * width;
    launch(b, &Kernels::product, right);
  }
  if (how.copies_out) launch(b, &Kernels::copy, CopyArgs{width, how.out_walk, out, a.out});
}

}  // namespace mlopt::gpu
