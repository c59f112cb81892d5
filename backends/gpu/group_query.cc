// com.microsoft.GroupQueryAttention: turned queries and keys, a cache that grows, and attention over it.
#include <algorithm>
#include <cmath>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

enum Input { kQuery, kKey, kValue, kPastKey, kPastValue, kLast, kTotal, kCosines, kSines, kPositions, kBias, kSink };
enum Output { kResult, kPresentKey, kPresentValue };

struct GroupQuery {
  CacheArgs q, k, v;
  AttentionArgs attention;
  int64_t k_offset, v_offset;  ///< of packed keys and values, in elements; 0: they are inputs of their own
  bool past, turned, positions, keys_out, values_out;
  size_t width;

  static size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }
  size_t bytes_of(const CacheArgs& c) const {
    return rounded(static_cast<size_t>(c.batch * c.heads * c.capacity * c.size) * width);
  }
  size_t scratch_bytes() const { return bytes_of(q) + bytes_of(k) + bytes_of(v); }

  void extend(const Buffers& b, CacheArgs args, const std::byte* in, int cache, std::byte* out) const {
    args.in = in;
    args.last = b.in<int32_t>(kLast);
    args.cache = past && cache >= 0 ? b.in<void>(cache) : nullptr;
    if (turned && args.half > 0) {
      args.cosines = b.in<void>(kCosines);
      args.sines = b.in<void>(kSines);
      args.positions = positions ? b.in<int64_t>(kPositions) : nullptr;
    }
    args.out = out;
    launch(b, &Kernels::extend_cache, args);
  }

  void run(const Buffers& b) const {
    std::byte* queries = b.scratch;
    std::byte* keys = keys_out ? b.out<std::byte>(kPresentKey) : queries + bytes_of(q);
    std::byte* values = values_out ? b.out<std::byte>(kPresentValue) : queries + bytes_of(q) + bytes_of(k);
    const auto* all = b.in<std::byte>(kQuery);
    const auto part = [&](int input, int64_t offset) {
      return offset > 0 ? all + static_cast<size_t>(offset) * width : b.in<std::byte>(input);
    };
    extend(b, q, all, -1, queries);
    extend(b, k, part(kKey, k_offset), kPastKey, keys);
    extend(b, v, part(kValue, v_offset), kPastValue, values);
    AttentionArgs args = attention;
    args.q = queries, args.k = keys, args.v = values;
    args.last = b.in<int32_t>(kLast);
    args.out = b.out<void>(kResult);
    launch(b, &Kernels::attention, args);
  }
};

/// What it would need besides what it has.
std::optional<Decline> refused(const Site& site) {
  const NodeView& view = site.view;
  if (site.has(kBias) || site.has(kSink) || view.get_int("smooth_softmax", 0) == 1)
    return Decline{"scores that something is added to, or sinks"};
  for (const char* attr : {"k_quant_type", "v_quant_type"})
    if (view.get_string(attr, "NONE") != "NONE") return Decline{"a quantized cache"};
  if (view.node().outputs().size() > 3) return Decline{"the scores are wanted"};
  for (const int i : {kKey, kValue, kPastKey, kPastValue, kCosines, kSines})
    if (site.has(i) && site.desc(i).dtype != site.desc(kQuery).dtype) return Decline{"operands of two types"};
  if (site.has(kKey) != site.has(kValue) || site.has(kPastKey) != site.has(kPastValue) ||
      site.desc(kLast).dtype != DType::kI32 || site.desc(kLast).size() != site.desc(kQuery).dims[0])
    return Decline{"the operands do not fit"};
  return std::nullopt;
}

/// Sizes and where heads lie, but for the cache.
Expected<GroupQuery> heads_of(const Site& site) {
  const Dims& x = site.desc(kQuery).dims;
  const auto type = float_of(site.desc(kQuery).dtype);
  const int64_t heads = site.view.get_int("num_heads", 0), kv = site.view.get_int("kv_num_heads", 0);
  if (!type) return type.error();
  if (x.size() != 3 || heads < 1 || kv < 1 || heads % kv != 0) return Decline{"the heads do not fit"};
  if (const auto no = refused(site)) return *no;
  const bool packed = !site.has(kKey);
  const int64_t all = packed ? heads + 2 * kv : heads, size = x[2] / all;
  if (x[2] % all != 0 || size > AttentionArgs::kMostDepth) return Decline{"the heads do not fit"};
  for (const int i : {kKey, kValue})
    if (!packed && site.desc(i).dims != Dims{x[0], x[1], kv * size}) return Decline{"keys or values do not fit"};
  GroupQuery g{};
  g.width = static_cast<size_t>(bits(site.desc(kQuery).dtype)) / 8;
  CacheArgs one{};
  one.type = *type;
  one.interleaved = site.view.get_int("rotary_interleaved", 0) != 0;
  one.batch = x[0], one.rows = x[1], one.size = size;
  g.q = g.k = g.v = one;
  g.q.heads = heads, g.k.heads = g.v.heads = kv;
  const int64_t row = packed ? x[2] : kv * size;
  g.q.at = {x[1] * x[2], size, x[2]};
  g.k.at = g.v.at = {x[1] * row, size, row};
  if (packed) g.k_offset = heads * size, g.v_offset = (heads + kv) * size;
  g.q.alone = true;
  g.q.capacity = x[1];
  return g;
}

Expected<bool> read_rotation(const Site& site, GroupQuery& g) {
  if (site.view.get_int("do_rotary", 0) == 0) return false;
  const Dims &cosines = site.desc(kCosines).dims, &sines = site.desc(kSines).dims;
  if (cosines.size() != 2 || cosines != sines || 2 * cosines[1] > g.q.size) return Decline{"the tables do not fit"};
  if (site.has(kPositions) &&
      (site.desc(kPositions).dtype != DType::kI64 || site.desc(kPositions).size() != g.q.batch * g.q.rows))
    return Decline{"positions that do not fit"};
  for (CacheArgs* args : {&g.q, &g.k}) args->table = cosines[0], args->half = cosines[1];
  g.positions = site.has(kPositions);
  return true;
}

/// How many keys there were and are.
Expected<bool> read_cache(const Site& site, GroupQuery& g) {
  const auto total = site.view.ints("", kTotal);
  if (!total || total->size() != 1) return Decline{"how many keys there are is not constant"};
  const int64_t rows = g.q.rows, longest = total->front();
  g.past = site.has(kPastKey) && site.desc(kPastKey).dims.size() == 4 && site.desc(kPastKey).size() > 0;
  const int64_t past = g.past ? site.desc(kPastKey).dims[2] : 0;
  const Dims wanted{g.k.batch, g.k.heads, past, g.k.size};
  if (g.past && (site.desc(kPastKey).dims != wanted || site.desc(kPastValue).dims != wanted))
    return Decline{"the cache does not fit"};
  if (longest < rows || longest > past + rows) return Decline{"more keys than there are, or fewer"};
  for (CacheArgs* args : {&g.q, &g.k, &g.v}) args->prompt = rows == longest;
  for (CacheArgs* args : {&g.k, &g.v}) args->past = past, args->capacity = std::max(past, longest);
  return true;
}

AttentionArgs attention_of(const NodeView& view, const GroupQuery& g) {
  AttentionArgs a{};
  a.type = g.q.type;
  a.batch = g.q.batch, a.heads = g.q.heads, a.kv_heads = g.k.heads, a.queries = g.q.rows, a.keys = g.k.capacity;
  a.depth = a.value_depth = g.q.size;
  const float scale = view.get_float("scale", 0);
  a.scale = scale != 0 ? scale : static_cast<float>(1 / std::sqrt(static_cast<double>(g.q.size)));
  a.softcap = view.get_float("softcap", 0);
  a.causal = true;
  a.prompt = g.q.prompt;
  const int64_t window = view.get_int("local_window_size", -1);
  a.left = window > 0 ? window - 1 : -1;
  a.right = -1;
  a.q_at = {a.heads * a.queries * a.depth, a.queries * a.depth, a.depth};
  a.k_at = a.v_at = {a.kv_heads * a.keys * a.depth, a.keys * a.depth, a.depth};
  a.out_at = {a.heads * a.queries * a.depth, a.depth, a.heads * a.depth};
  return a;
}

Expected<PlannedStep> plan(const Site& site) {
  auto made = heads_of(site);
  if (!made) return made.error();
  GroupQuery& g = *made;
  const auto turned = read_rotation(site, g), cached = read_cache(site, g);
  if (!turned || !cached) return turned ? cached.error() : turned.error();
  g.turned = *turned;
  g.attention = attention_of(site.view, g);
  const AttentionArgs& a = g.attention;
  const DType type = site.desc(kQuery).dtype;
  PlannedStep step{.out = {{type, {a.batch, a.queries, a.heads * a.depth}}}};
  const TensorDesc cache{type, {a.batch, a.kv_heads, a.keys, a.depth}};
  if (!is_countable(step.out[0]) || !is_countable(cache) || !is_countable(site.desc(kQuery)))
    return Decline{"more elements than kernels count"};
  const auto& outputs = site.view.node().outputs();
  while (step.out.size() < outputs.size()) step.out.push_back(cache);
  g.keys_out = outputs.size() > 1 && outputs[1];
  g.values_out = outputs.size() > 2 && outputs[2];
  step.scratch_bytes = g.scratch_bytes();
  step.packed = {kTotal};
  step.run = [g](const Buffers& b) { g.run(b); };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "com.microsoft", .op = "GroupQueryAttention", .plan = plan}};

}  // namespace

std::span<const Kernel> group_query_kernels() { return kKernels; }

}  // namespace mlopt::gpu
