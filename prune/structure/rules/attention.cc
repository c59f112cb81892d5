#include <algorithm>
#include <cmath>
#include <set>

#include "prune/structure/rules.h"

namespace mlopt::prune::rules {
namespace {

/// Heads side by side on an axis, `size` elements each; 1 where they have an axis of their own.
struct Heads {
  const Value* value = nullptr;
  int axis = 0;
  int64_t first = 0, count = 0, size = 1;
};

/// Head h of `a` with the head of `b` that it reads: those of b are as many or fewer, each for as many of a's.
void tie_heads(Ties& t, const Heads& a, const Heads& b) {
  if (!a.value || !b.value) return;
  for (int64_t h = 0; h < a.count; ++h)
    for (int64_t j = 0; j < a.size; ++j)
      t.tie(a.value, a.axis, a.first + h * a.size + j, b.value, b.axis, b.first + h / (a.count / b.count) * b.size);
}

/// All elements of each head with one another.
void tie_within(Ties& t, const Heads& a) {
  for (int64_t i = 0; a.value && i < a.count * a.size; ++i)
    t.tie(a.value, a.axis, a.first + i, a.value, a.axis, a.first + i / a.size * a.size);
}

/// Heads of a value [batch, rows, heads * size] or [batch, heads, rows, size]; none where that does not come out even.
Heads heads_of(const Value* v, int64_t count) {
  if (!v || count < 1) return {};
  const int axis = Ties::rank(*v) == 4 ? 1 : 2;
  const auto size = Ties::size(*v, axis);
  if (Ties::rank(*v) < 3 || !size || *size % count != 0 || (axis == 1 && *size != count)) return {};
  return {v, axis, 0, count, axis == 1 ? 1 : *size / count};
}

/// Of a bias or mask of scores that has numbers for each head, on the third axis from the end.
Heads of_scores(const Value* v, int64_t count) {
  if (!v || Ties::rank(*v) < 3 || Ties::size(*v, -3) != count) return {};
  return {v, Ties::rank(*v) - 3, 0, count, 1};
}

/// Axes before the heads', and rows: batches are one; rows of queries are those of the output.
void tie_batch_and_rows(Ties& t, const Value* q, const Value* y) {
  if (!q || !y || Ties::rank(*q) != Ties::rank(*y)) return;
  t.tie(q, 0, y, 0);
  const int rows = Ties::rank(*q) == 4 ? 2 : 1;
  t.tie(q, rows, y, rows);
}

void pin_lengths(Ties& t, const Value* v) {
  if (v) t.pin(v, Ties::rank(*v) == 4 ? 2 : 1, "attention is over this axis");
}

constexpr const char* kForm = "heads in this form are not cut: how it reads its inputs is not known";

/// How many heads are left of those on an axis.
std::optional<int64_t> heads_left(const Rewriting& r, const Value* v, int axis, int64_t first, int64_t count,
                                  int64_t size) {
  const auto* kept = v ? r.kept.find(v, axis) : nullptr;
  if (!kept) return std::nullopt;
  std::set<int64_t> heads;
  for (const int64_t p : *kept)
    if (p >= first && p < first + count * size) heads.insert((p - first) / size);
  return static_cast<int64_t>(heads.size());
}

/// The same for what heads_of() finds; the attribute says it afterwards.
void set_heads(Rewriting& r, std::string_view attr, const Value* v) {
  const int64_t count = r.view.get_int(attr, 0);
  const Heads heads = heads_of(v, count);
  if (const auto left = heads_left(r, heads.value, heads.axis, 0, count, heads.size)) r.node.set_attr(attr, *left);
}

}  // namespace

// q [batch, rows, heads * size] or [batch, heads, rows, size]; k, v likewise with as many heads or fewer
void attention(Ties& t) {
  const Value *q = t.in(0), *k = t.in(1), *v = t.in(2), *y = t.out();
  const bool apart = Ties::rank(*q) == 4;
  const int64_t count = apart ? Ties::size(*q, 1).value_or(0) : t.view.get_int("q_num_heads", 0);
  const int64_t shared = apart ? Ties::size(*k, 1).value_or(0) : t.view.get_int("kv_num_heads", 0);
  if (count < 1 || shared < 1 || count % shared != 0) return t.pin_node(kForm);
  const Heads queries = heads_of(q, count), keys = heads_of(k, shared), values = heads_of(v, shared),
              made = heads_of(y, count);
  if (!queries.value || !keys.value || !values.value || !made.value) return t.pin_node(kForm);
  tie_within(t, keys);
  for (const Heads& h :
       {queries, values, made, heads_of(t.in(4), shared), heads_of(t.in(5), shared), heads_of(t.out(1), shared),
        heads_of(t.out(2), shared), of_scores(t.in(3), count), of_scores(t.out(3), count)})
    tie_heads(t, h, keys);
  t.heads(y, made.axis);
  tie_batch_and_rows(t, q, y);
  for (const Value* x : {k, v}) pin_lengths(t, x);
  if (!apart) return;
  t.tie(q, 3, k, 3);
  t.tie(v, 3, y, 3);
  t.tie(t.in(4), 3, k, 3);
  t.tie(t.in(5), 3, v, 3);
  t.tie(t.out(1), 3, k, 3);
  t.tie(t.out(2), 3, v, 3);
  t.contracts(0, 3);
}

/// The scale stays that of heads as long as they were.
void rewrite_attention(Rewriting& r) {
  const Value *q = r.node.input(0), *k = r.node.input(1);
  if (q->type.dims->size() == 4) {
    const auto size = (*q->type.dims)[3].value();
    if (r.kept.find(q, 3) && !r.node.attr("scale") && size)
      r.node.set_attr("scale", static_cast<float>(1 / std::sqrt(static_cast<double>(*size))));
    return;
  }
  set_heads(r, "q_num_heads", q);
  set_heads(r, "kv_num_heads", k);
}

// com.microsoft: query, key, value [batch, rows, heads * size], bias of all three one after the other
void multi_head_attention(Ties& t) {
  const int64_t count = t.view.get_int("num_heads", 0);
  const Value *q = t.in(0), *k = t.in(1), *v = t.in(2), *bias = t.in(3);
  if (!q || !k || !v || Ties::rank(*q) != 3 || Ties::rank(*v) != Ties::rank(*k) || Ties::rank(*k) > 4 || t.in(9))
    return t.pin_node(kForm);
  const Heads queries = heads_of(q, count), keys = heads_of(k, count), values = heads_of(v, count),
              made = heads_of(t.out(), count);
  if (!queries.value || !keys.value || !values.value || !made.value) return t.pin_node(kForm);
  tie_within(t, queries);
  for (const Heads& h :
       {keys, values, made, heads_of(t.in(6), count), heads_of(t.in(7), count), heads_of(t.out(1), count),
        heads_of(t.out(2), count), of_scores(t.in(5), count), of_scores(t.out(3), count)})
    tie_heads(t, h, queries);
  const int64_t width = count * queries.size;
  if (bias) {
    tie_heads(t, {bias, 0, 0, count, queries.size}, queries);
    tie_heads(t, {bias, 0, width, count, queries.size}, queries);
    tie_heads(t, {bias, 0, 2 * width, count, made.size}, queries);
  }
  t.heads(t.out(), made.axis);
  tie_batch_and_rows(t, q, t.out());
  for (const Value* x : {k, v}) pin_lengths(t, x);
}

void rewrite_multi_head_attention(Rewriting& r) { set_heads(r, "num_heads", r.node.input(0)); }

// com.microsoft: x [batch, rows, in], weights [in, queries | keys | values], bias of them
void packed_attention(Ties& t) {
  const int64_t count = t.view.get_int("num_heads", 0);
  const Value *x = t.in(0), *w = t.in(1), *bias = t.in(2);
  const auto width = Ties::size(*w, 1);
  std::vector<int64_t> sizes = t.view.get_ints("qkv_hidden_sizes");
  if (sizes.empty() && width) sizes.assign(3, *width / 3);
  const Heads made = heads_of(t.out(), count);
  const bool even = sizes.size() == 3 && std::all_of(sizes.begin(), sizes.end(),
                                                     [&](int64_t n) { return count > 0 && n > 0 && n % count == 0; });
  if (!even || !made.value || !width || sizes[0] + sizes[1] + sizes[2] != *width) return t.pin_node(kForm);
  t.tie(x, 2, w, 0);
  t.contracts(0, 2);
  t.produces(w, 1);
  tie_within(t, made);
  int64_t first = 0;
  for (const int64_t n : sizes) {
    for (const Value* v : {w, bias})
      if (v) tie_heads(t, {v, v == w ? 1 : 0, first, count, n / count}, made);
    first += n;
  }
  for (const Value* past : {t.in(4), t.out(1)})
    if (past) tie_heads(t, {past, 2, 0, count, 1}, made);
  tie_heads(t, of_scores(t.in(5), count), made);
  t.heads(t.out(), made.axis);
  t.tie(x, 0, t.out(), 0);
  t.pin(x, 1, "attention is over this axis");
  t.pin(t.out(), 1, "attention is over this axis");
}

void rewrite_packed_attention(Rewriting& r) {
  const Value* w = r.node.input(1);
  const auto* kept = r.kept.find(w, 1);
  if (!kept) return;
  const std::vector<int64_t> sizes = r.view.get_ints("qkv_hidden_sizes");
  set_heads(r, "num_heads", r.node.output(0));
  if (sizes.size() != 3) return;
  std::vector<int64_t> left(3);
  for (const int64_t p : *kept) ++left[p < sizes[0] ? 0 : p < sizes[0] + sizes[1] ? 1 : 2];
  r.node.set_attr("qkv_hidden_sizes", left);
}

// com.microsoft: query [batch, rows, heads * size], key and value of fewer heads, or all three in query
void group_query_attention(Ties& t) {
  const int64_t count = t.view.get_int("num_heads", 0), shared = t.view.get_int("kv_num_heads", 0);
  const Value *q = t.in(0), *k = t.in(1), *v = t.in(2), *y = t.out();
  const auto width = Ties::size(*q, 2);
  if (count < 1 || shared < 1 || count % shared != 0 || Ties::rank(*q) != 3 || !width ||
      (k == nullptr) != (v == nullptr))
    return t.pin_node(kForm);
  const int64_t all = k ? count : count + 2 * shared;
  const Heads made = heads_of(y, count);
  if (*width % all != 0 || !made.value) return t.pin_node(kForm);
  const int64_t size = *width / all;
  const Heads queries{q, 2, 0, count, size};
  const Heads keys = k ? heads_of(k, shared) : Heads{q, 2, count * size, shared, size};
  const Heads values = v ? heads_of(v, shared) : Heads{q, 2, (count + shared) * size, shared, size};
  if (!keys.value || !values.value) return t.pin_node(kForm);
  tie_within(t, keys);
  for (const Heads& h : {queries, values, made, heads_of(t.in(3), shared), heads_of(t.in(4), shared),
                         heads_of(t.out(1), shared), heads_of(t.out(2), shared), of_scores(t.in(10), count)})
    tie_heads(t, h, keys);
  if (t.in(11)) tie_heads(t, {t.in(11), 0, 0, count, 1}, keys);
  t.heads(y, made.axis);
  tie_batch_and_rows(t, q, y);
  for (const int i : {7, 8}) t.pin_all(t.in(i), "these are cosines and sines");
}

void rewrite_group_query_attention(Rewriting& r) {
  const int64_t count = r.view.get_int("num_heads", 0), shared = r.view.get_int("kv_num_heads", 0);
  const Value *q = r.node.input(0), *k = r.node.input(1);
  const int64_t size = *(*q->type.dims)[2].value() / (k ? count : count + 2 * shared);
  if (const auto left = heads_left(r, q, 2, 0, count, size)) r.node.set_attr("num_heads", *left);
  const auto few = k ? heads_left(r, k, 2, 0, shared, size) : heads_left(r, q, 2, count * size, shared, size);
  if (few) r.node.set_attr("kv_num_heads", *few);
}

// x [batch, rows, heads * size] or [batch, heads, rows, size]; the tables know the size of a head
void rotary_embedding(Ties& t) {
  const Value *x = t.in(0), *y = t.out();
  for (int i = 1; i < 4; ++i) t.pin_all(t.in(i), "these are positions, cosines and sines");
  t.tie(x, 0, y, 0);
  const int rank = Ties::rank(*x);
  const int64_t given = t.view.get_int("num_heads", 0);
  const Heads heads = heads_of(x, rank == 4 ? Ties::size(*x, 1).value_or(0) : given);
  if (!heads.value) {
    for (const Value* v : {x, y}) t.pin_from(v, 1, kForm);
    return;
  }
  tie_batch_and_rows(t, x, y);
  tie_within(t, heads);
  tie_heads(t, {y, heads.axis, 0, heads.count, heads.size}, heads);
  for (const Value* v : {x, y})
    if (rank == 4) t.pin(v, 3, "it turns pairs of this axis");
}

void rewrite_rotary_embedding(Rewriting& r) {
  if (r.node.attr("num_heads")) set_heads(r, "num_heads", r.node.input(0));
}

}  // namespace mlopt::prune::rules
