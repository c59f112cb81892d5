// com.microsoft.GroupQueryAttention: turned queries and keys, a cache that grows, and attention over it.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "backends/cpu/attention_plan.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/rotary.h"
#include "core/base/align.h"
#include "core/base/error.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

enum Input { kQuery, kKey, kValue, kPastKey, kPastValue, kLast, kTotal, kCosines, kSines, kPositions, kMask, kSinks };
enum Output { kResult, kPresentKey, kPresentValue };

constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings

/// Where heads lie in the input that has them: elements from its begin, and between rows.
struct Place {
  int input = kQuery;
  int64_t offset = 0, row = 0;
};

struct GroupQuery {
  int64_t batch = 0, rows = 0, size = 0, heads = 0, kv_heads = 0;
  Place q, k, v;
  int64_t past = 0, total = 0;  ///< rows of the caches that come in; keys of the longest sample
  int64_t table = 0, half = 0;  ///< rows of cosines, and how many each has; 0: nothing is turned
  bool interleaved = false, positions = false, mask = false, sinks = false, smooth = false;
  bool keys_out = false, values_out = false;
  std::shared_ptr<const AttentionPlan> attention = {};

  int64_t capacity() const { return std::max(past, total); }
  int64_t query_elements() const { return moves_queries() ? batch * heads * rows * size : 0; }
  int64_t cache_elements() const { return batch * kv_heads * capacity() * size; }
  /// Do they not lie as attention takes them?
  bool moves_queries() const { return half > 0 || q.row != heads * size; }
};

/// A run's memory beside its outputs.
struct Space {
  KeySpan* spans;
  float *queries, *keys, *values;
  std::byte* attention;

  static size_t rounded(int64_t elements, size_t each) { return round_up(static_cast<size_t>(elements) * each, 64); }
  static size_t bytes(const GroupQuery& g) {
    return rounded(g.batch, sizeof(KeySpan)) + rounded(g.query_elements(), sizeof(float)) +
           2 * rounded(g.cache_elements(), sizeof(float)) + g.attention->workspace_bytes();
  }
  Space(const GroupQuery& g, std::byte* at) {
    const auto take = [&at](size_t bytes) { return std::exchange(at, at + bytes); };
    spans = reinterpret_cast<KeySpan*>(take(rounded(g.batch, sizeof(KeySpan))));
    queries = reinterpret_cast<float*>(take(rounded(g.query_elements(), sizeof(float))));
    keys = reinterpret_cast<float*>(take(rounded(g.cache_elements(), sizeof(float))));
    values = reinterpret_cast<float*>(take(rounded(g.cache_elements(), sizeof(float))));
    attention = at;
  }
};

/// How far the caches are filled: before the first rows of a prompt they are empty, later the new rows end at the last
/// key. Throws Error{kBadInput} for lengths that cannot be.
void read_spans(const GroupQuery& g, const int32_t* last, KeySpan* spans) {
  for (int64_t b = 0; b < g.batch; ++b) {
    const int64_t keys = int64_t{last[b]} + 1, before = g.rows == g.total ? 0 : keys - g.rows;
    if (keys < 1 || keys > g.total || before < 0 || before > g.past)
      input_error(fmt::format("seqlens_k {} with {} rows cached and {} new", last[b], g.past, g.rows));
    spans[b] = {before, keys};
  }
}

/// The tables of a run, and which of their rows each new row of a sample has.
struct Tables {
  const float *cosines = nullptr, *sines = nullptr;
  const int64_t* positions = nullptr;  ///< [batch, rows]; null: those of the keys
  const KeySpan* spans = nullptr;

  int64_t place(int64_t b, int64_t r, int64_t rows) const {
    return positions ? positions[b * rows + r] : spans[b].position + r;
  }
};

/// Throws Error{kBadInput} for positions that the tables have not.
void check_places(const GroupQuery& g, const Tables& t) {
  for (int64_t b = 0; b < g.batch; ++b)
    for (int64_t r = 0; r < g.rows; ++r)
      if (const int64_t at = t.place(b, r, g.rows); at < 0 || at >= g.table)
        input_error(fmt::format("position {} in a table of {}", at, g.table));
}

/// A new row of a head, turned where there are tables (`t` is not null).
void put(const GroupQuery& g, const Tables* t, int64_t b, int64_t r, const float* from, float* to) {
  if (!t) {
    std::copy_n(from, g.size, to);
    return;
  }
  const int64_t at = t->place(b, r, g.rows) * g.half;
  turn_head(g.interleaved, {t->cosines + at, t->sines + at, g.half}, from, to, g.size);
}

/// [batch, rows, heads, size].
void put_queries(const GroupQuery& g, const Tables* t, const float* from, float* to) {
  const int64_t width = g.heads * g.size;
  parallel_for(g.batch * g.rows, std::max<int64_t>(1, kGrain / width), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t h = 0; h < g.heads; ++h)
        put(g, t, i / g.rows, i % g.rows, from + i * g.q.row + h * g.size, to + i * width + h * g.size);
  });
}

/// Rows of the cache that are in use, then the new ones, then zeros: [batch, kv_heads, capacity, size].
void extend(const GroupQuery& g, const Place& place, const Tables* t, const KeySpan* spans, const float* from,
            const float* cache, float* to) {
  const int64_t capacity = g.capacity();
  parallel_for(g.batch * g.kv_heads, std::max<int64_t>(1, kGrain / (capacity * g.size)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t b = i / g.kv_heads, before = spans[b].position;
                   const int64_t made = std::min(g.rows, capacity - before);
                   float* head = to + i * capacity * g.size;
                   if (cache) std::copy_n(cache + i * g.past * g.size, before * g.size, head);
                   const float* row = from + b * g.rows * place.row + i % g.kv_heads * g.size;
                   for (int64_t r = 0; r < made; ++r)
                     put(g, t, b, r, row + r * place.row, head + (before + r) * g.size);
                   std::fill(head + (before + made) * g.size, head + capacity * g.size, 0.0f);
                 }
               });
}

void run(const GroupQuery& g, const Buffers& b) {
  const Space space(g, b.scratch);
  read_spans(g, b.in<int32_t>(kLast), space.spans);
  Tables tables;
  if (g.half > 0) {
    tables = {b.in<float>(kCosines), b.in<float>(kSines), g.positions ? b.in<int64_t>(kPositions) : nullptr,
              space.spans};
    check_places(g, tables);
  }
  const Tables* t = g.half > 0 ? &tables : nullptr;
  const auto input = [&](const Place& place) { return b.in<float>(place.input) + place.offset; };
  const auto cache = [&](int i) { return g.past > 0 ? b.in<float>(i) : nullptr; };
  float* keys = g.keys_out ? b.out<float>(kPresentKey) : space.keys;
  float* values = g.values_out ? b.out<float>(kPresentValue) : space.values;
  if (g.moves_queries()) put_queries(g, t, input(g.q), space.queries);
  extend(g, g.k, t, space.spans, input(g.k), cache(kPastKey), keys);
  extend(g, g.v, nullptr, space.spans, input(g.v), cache(kPastValue), values);
  AttentionArgs args{g.moves_queries() ? space.queries : input(g.q), keys, values};
  args.mask = g.mask ? b.in<float>(kMask) : nullptr;
  args.sinks = g.sinks ? b.in<float>(kSinks) : nullptr;
  args.out = b.out<float>(kResult);
  args.spans = space.spans;
  g.attention->run(args, space.attention);
}

/// What it would need besides what it has.
std::optional<Decline> refused(const Site& site) {
  for (const char* attr : {"k_quant_type", "v_quant_type"})
    if (site.view.get_string(attr, "NONE") != "NONE") return Decline{"a quantized cache"};
  if (site.view.node().outputs().size() > 3) return Decline{"the scores are wanted"};
  for (const int i : {kQuery, kKey, kValue, kPastKey, kPastValue, kCosines, kSines, kMask, kSinks})
    if (site.has(i) && site.desc(i).dtype != DType::kF32) return Decline{"not float32"};
  if (site.has(kKey) != site.has(kValue) || site.has(kPastKey) != site.has(kPastValue) ||
      site.desc(kLast).dtype != DType::kI32 || site.desc(kLast).size() != site.desc(kQuery).dims[0])
    return Decline{"the operands do not fit"};
  return std::nullopt;
}

/// Sizes and where heads lie, but for the cache.
Expected<GroupQuery> heads_of(const Site& site) {
  const Dims& x = site.desc(kQuery).dims;
  if (const auto no = refused(site)) return *no;
  GroupQuery g;
  g.heads = site.view.get_int("num_heads", 0), g.kv_heads = site.view.get_int("kv_num_heads", 0);
  if (x.size() != 3 || g.heads < 1 || g.kv_heads < 1 || g.heads % g.kv_heads != 0 || site.desc(kQuery).size() == 0)
    return Decline{"the heads do not fit"};
  const bool packed = !site.has(kKey);
  const int64_t all = packed ? g.heads + 2 * g.kv_heads : g.heads;
  g.batch = x[0], g.rows = x[1], g.size = x[2] / all;
  if (x[2] % all != 0) return Decline{"the heads do not fit"};
  const int64_t width = g.kv_heads * g.size, queries = g.heads * g.size;
  for (const int i : {kKey, kValue})
    if (!packed && site.desc(i).dims != Dims{x[0], x[1], width}) return Decline{"keys or values do not fit"};
  g.q = {kQuery, 0, x[2]};
  g.k = packed ? Place{kQuery, queries, x[2]} : Place{kKey, 0, width};
  g.v = packed ? Place{kQuery, queries + width, x[2]} : Place{kValue, 0, width};
  return g;
}

Expected<bool> read_rotation(const Site& site, GroupQuery& g) {
  if (site.view.get_int("do_rotary", 0) == 0) return false;
  const Dims &cosines = site.desc(kCosines).dims, &sines = site.desc(kSines).dims;
  if (cosines.size() != 2 || cosines != sines || 2 * cosines[1] > g.size) return Decline{"the tables do not fit"};
  g.positions = site.has(kPositions);
  if (g.positions && (site.desc(kPositions).dtype != DType::kI64 || site.desc(kPositions).size() != g.batch * g.rows))
    return Decline{"positions that do not fit"};
  g.table = cosines[0], g.half = cosines[1];
  g.interleaved = site.view.get_int("rotary_interleaved", 0) != 0;
  return true;
}

/// How many keys there were and are.
Expected<bool> read_cache(const Site& site, GroupQuery& g) {
  const auto total = site.view.ints("", kTotal);
  if (!total || total->size() != 1) return Decline{"how many keys there are is not constant"};
  const bool past = site.has(kPastKey) && site.desc(kPastKey).dims.size() == 4 && site.desc(kPastKey).size() > 0;
  g.past = past ? site.desc(kPastKey).dims[2] : 0;
  const Dims wanted{g.batch, g.kv_heads, g.past, g.size};
  if (past && (site.desc(kPastKey).dims != wanted || site.desc(kPastValue).dims != wanted))
    return Decline{"the cache does not fit"};
  g.total = total->front();
  if (g.total < g.rows || g.total > g.past + g.rows) return Decline{"more keys than there are, or fewer"};
  const auto& outputs = site.view.node().outputs();
  g.keys_out = outputs.size() > kPresentKey && outputs[kPresentKey];
  g.values_out = outputs.size() > kPresentValue && outputs[kPresentValue];
  return true;
}

Expected<bool> plan_attention(const Site& site, GroupQuery& g) {
  AttentionShape s{g.batch, g.heads, g.kv_heads, g.rows, g.capacity(), g.size, g.size};
  const float scale = site.view.get_float("scale", 0);
  s.scale = scale != 0 ? scale : static_cast<float>(1 / std::sqrt(static_cast<double>(g.size)));
  s.cap = std::max(0.0F, site.view.get_float("softcap", 0));
  s.rows_first = true;
  s.window = std::max<int64_t>(0, site.view.get_int("local_window_size", -1));
  g.mask = site.has(kMask), g.sinks = site.has(kSinks);
  s.sink = !g.sinks && site.view.get_int("smooth_softmax", 0) == 1;
  if (g.sinks && site.desc(kSinks).size() != g.heads) return Decline{"there are not as many sinks as heads"};
  if (g.mask) {
    const auto strides = mask_strides(site.desc(kMask).dims, s);
    if (!strides) return strides.error();
    s.mask = *strides;
  }
  g.attention = std::make_shared<const AttentionPlan>(s, site.context.threads);
  return true;
}

Expected<PlannedStep> plan(const Site& site) {
  auto made = heads_of(site);
  if (!made) return made.error();
  GroupQuery& g = *made;
  for (const auto read : {read_rotation, read_cache, plan_attention})
    if (const auto known = read(site, g); !known) return known.error();
  PlannedStep step{.out = {{DType::kF32, {g.batch, g.rows, g.heads * g.size}}}};
  const TensorDesc cache{DType::kF32, {g.batch, g.kv_heads, g.capacity(), g.size}};
  while (step.out.size() < site.view.node().outputs().size()) step.out.push_back(cache);
  step.scratch_bytes = Space::bytes(g);
  step.packed = {kTotal};
  step.run = [g](const Buffers& b) { run(g, b); };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "com.microsoft", .op = "GroupQueryAttention", .plan = plan}};

}  // namespace

std::span<const Kernel> group_query_kernels() { return kKernels; }

}  // namespace mlopt::cpu
