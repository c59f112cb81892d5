// com.microsoft.GroupQueryAttention: turned queries and keys, a cache that grows, and attention over it.
#include "core/exec/group_query.h"

#include <fmt/core.h>

#include <algorithm>

#include "backends/cpu/attention_plan.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/rotary.h"
#include "core/base/align.h"
#include "core/base/error.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

using namespace group_query;

constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings

struct GroupQuery : Shape {
  bool mask = false, sinks = false;
  std::shared_ptr<const AttentionPlan> attention = {};

  int64_t query_elements() const { return moves_queries() ? batch * heads * rows * size : 0; }
  /// Of a cache that does not come out.
  int64_t cache_elements(bool out) const { return out ? 0 : batch * kv_heads * capacity() * size; }
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
           rounded(g.cache_elements(g.keys_out), sizeof(float)) +
           rounded(g.cache_elements(g.values_out), sizeof(float)) + g.attention->workspace_bytes();
  }
  Space(const GroupQuery& g, std::byte* at) {
    const auto take = [&at](size_t bytes) { return std::exchange(at, at + bytes); };
    spans = reinterpret_cast<KeySpan*>(take(rounded(g.batch, sizeof(KeySpan))));
    queries = reinterpret_cast<float*>(take(rounded(g.query_elements(), sizeof(float))));
    keys = reinterpret_cast<float*>(take(rounded(g.cache_elements(g.keys_out), sizeof(float))));
    values = reinterpret_cast<float*>(take(rounded(g.cache_elements(g.values_out), sizeof(float))));
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

Expected<bool> plan_attention(const Site& site, GroupQuery& g) {
  AttentionShape s{g.batch, g.heads, g.kv_heads, g.rows, g.capacity(), g.size, g.size};
  s.scale = g.scale, s.cap = g.cap;
  s.rows_first = true;
  s.window = g.window;
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
  for (const int i : {kQuery, kMask, kSinks})
    if (site.has(i) && site.desc(i).dtype != DType::kF32) return Decline{"not float32"};
  const auto shape = shape_of(site);
  if (!shape) return shape.error();
  GroupQuery g{*shape};
  if (const auto planned = plan_attention(site, g); !planned) return planned.error();
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
