// com.microsoft.GroupQueryAttention: turned queries and keys, a cache that grows, and attention over it.
#include "core/exec/group_query.h"

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

using namespace group_query;

struct GroupQuery {
  Shape shape;
  CacheArgs q, k, v;
  AttentionArgs attention;
  size_t width;

  size_t bytes_of(const CacheArgs& c) const {
    return device_aligned(static_cast<size_t>(c.batch * c.heads * c.capacity * c.size) * width);
  }
  size_t scratch_bytes() const { return bytes_of(q) + bytes_of(k) + bytes_of(v); }

  void extend(const Buffers& b, CacheArgs args, const std::byte* in, int cache, std::byte* out) const {
    args.in = in;
    args.last = b.in<int32_t>(kLast);
    args.cache = shape.past > 0 && cache >= 0 ? b.in<void>(cache) : nullptr;
    if (args.half > 0) {
      args.cosines = b.in<void>(kCosines);
      args.sines = b.in<void>(kSines);
      args.positions = shape.positions ? b.in<int64_t>(kPositions) : nullptr;
    }
    args.out = out;
    launch(b, &Kernels::extend_cache, args);
  }

  void run(const Buffers& b) const {
    std::byte* queries = b.scratch;
    std::byte* keys = shape.keys_out ? b.out<std::byte>(kPresentKey) : queries + bytes_of(q);
    std::byte* values = shape.values_out ? b.out<std::byte>(kPresentValue) : queries + bytes_of(q) + bytes_of(k);
    const auto input = [&](const Place& place) {
      return b.in<std::byte>(place.input) + static_cast<size_t>(place.offset) * width;
    };
    extend(b, q, input(shape.q), -1, queries);
    extend(b, k, input(shape.k), kPastKey, keys);
    extend(b, v, input(shape.v), kPastValue, values);
    AttentionArgs args = attention;
    args.q = queries, args.k = keys, args.v = values;
    args.last = b.in<int32_t>(kLast);
    args.out = b.out<void>(kResult);
    launch(b, &Kernels::attention, args);
  }
};

/// Rows of heads that come in at `place`, and where they go.
CacheArgs cache_of(const Shape& s, const Place& place, int64_t heads, Elem type) {
  CacheArgs args{};
  args.type = type;
  args.interleaved = s.interleaved;
  args.batch = s.batch, args.rows = s.rows, args.size = s.size, args.heads = heads;
  args.at = {s.rows * place.row, s.size, place.row};
  args.prompt = s.rows == s.total;
  args.past = s.past, args.capacity = s.capacity(), args.longest = s.total;
  return args;
}

AttentionArgs attention_of(const Shape& s, Elem type) {
  AttentionArgs a{};
  a.type = type;
  a.batch = s.batch, a.heads = s.heads, a.kv_heads = s.kv_heads, a.queries = s.rows, a.keys = s.capacity();
  a.depth = a.value_depth = s.size;
  a.scale = s.scale, a.softcap = s.cap;
  a.causal = true;
  a.prompt = s.rows == s.total;
  a.left = s.window > 0 ? s.window - 1 : -1;
  a.right = -1;
  a.q_at = {a.heads * a.queries * a.depth, a.queries * a.depth, a.depth};
  a.k_at = a.v_at = {a.kv_heads * a.keys * a.depth, a.keys * a.depth, a.depth};
  a.out_at = {a.heads * a.queries * a.depth, a.depth, a.heads * a.depth};
  return a;
}

Expected<PlannedStep> plan(const Site& site) {
  const DType dtype = site.desc(kQuery).dtype;
  const auto type = float_of(dtype);
  if (!type) return type.error();
  if (site.has(kMask) || site.has(kSinks) || site.view.get_int("smooth_softmax", 0) == 1)
    return Decline{"scores that something is added to, or sinks"};
  const auto shape = shape_of(site);
  if (!shape) return shape.error();
  const Shape& s = *shape;
  if (s.size > AttentionArgs::kMostDepth) return Decline{"the heads do not fit"};
  GroupQuery g{s,
               cache_of(s, s.q, s.heads, *type),
               cache_of(s, s.k, s.kv_heads, *type),
               cache_of(s, s.v, s.kv_heads, *type),
               attention_of(s, *type),
               static_cast<size_t>(bits(dtype)) / 8};
  g.q.alone = true;
  g.q.past = 0, g.q.capacity = s.rows;
  for (CacheArgs* args : {&g.q, &g.k}) args->table = s.table, args->half = s.half;
  PlannedStep step{.out = {{dtype, {s.batch, s.rows, s.heads * s.size}}}};
  const TensorDesc cache{dtype, {s.batch, s.kv_heads, s.capacity(), s.size}};
  if (!is_countable(step.out[0]) || !is_countable(cache) || !is_countable(site.desc(kQuery)))
    return Decline{"more elements than kernels count"};
  while (step.out.size() < site.view.node().outputs().size()) step.out.push_back(cache);
  step.scratch_bytes = g.scratch_bytes();
  step.packed = {kTotal};
  step.run = [g](const Buffers& b) { g.run(b); };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "com.microsoft", .op = "GroupQueryAttention", .plan = plan}};

}  // namespace

std::span<const Kernel> group_query_kernels() { return kKernels; }

}  // namespace mlopt::gpu
