#include <algorithm>

#include "prune/structure/rules.h"
#include "prune/structure/rules/heads.h"

namespace mlopt::prune::rules {
namespace {

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

/// Dimensions of queries go with those of keys, those of values with those of the result; what has numbers for each
/// head keeps them. Queries are read in input 0.
void tie_dimensions(Ties& t, std::initializer_list<Heads> queries, std::initializer_list<Heads> values,
                    std::initializer_list<Heads> scores) {
  if (!tie_across(t, queries) || !tie_across(t, values)) return t.pin_node(kForm);
  for (const Heads& s : scores) t.pin(s.value, s.axis, "its heads stay where dimensions of them go");
}

void multi_head_dimensions(Ties& t, int64_t count) {
  const auto of = [&](const Value* v) { return dimensions_of(t, v, count); };
  const Heads q = of(t.in(0)), y = of(t.out());
  const Value* bias = t.in(3);
  const auto part = [&](int64_t from, int64_t size) { return Heads{bias, 0, from, count, size}; };
  t.contracts(0, q.axis);
  if (bias) t.contracts(3, 0);
  const int64_t width = count * q.size;
  // ONNX Runtime takes values of another size only where heads lie side by side and nothing is kept of them.
  const bool alike = Ties::rank(*t.in(1)) == 4 || t.in(6) || t.in(7) || t.out(1) || t.out(2);
  if (alike && !tie_across(t, {q, y})) return t.pin_node(kForm);
  tie_dimensions(t, {q, of(t.in(1)), part(0, q.size), part(width, q.size), of(t.in(6)), of(t.out(1))},
                 {y, of(t.in(2)), part(2 * width, y.size), of(t.in(7)), of(t.out(2))},
                 {of_scores(t.in(5), count), of_scores(t.out(3), count)});
}

/// Dimensions of heads of products inside of the operator, whose columns begin at the sums of `sizes`.
void packed_dimensions(Ties& t, const Heads& made, const std::vector<int64_t>& sizes) {
  const auto part = [&](const Value* v, size_t i) {
    const int64_t first = i == 0 ? 0 : i == 1 ? sizes[0] : sizes[0] + sizes[1];
    return Heads{v, v == t.in(1) ? 1 : 0, first, made.count, sizes[i] / made.count};
  };
  const Value *w = t.in(1), *bias = t.in(2);
  t.contracts(1, 1);
  if (bias) t.contracts(2, 0);
  for (const Value* past : {t.in(4), t.out(1)}) {
    if (!past) continue;
    t.pin_all(past, kForm);
    t.pin(w, 1, kForm);
  }
  tie_dimensions(t, {part(w, 0), part(w, 1), part(bias, 0), part(bias, 1)}, {made, part(w, 2), part(bias, 2)},
                 {of_scores(t.in(5), made.count)});
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
  tie_batch_and_rows(t, q, y);
  for (const Value* x : {k, v}) pin_lengths(t, x);
  const auto cache = [&](const Value* x) { return dimensions_of(t, x, shared); };
  if (!apart && !t.whole_heads()) {
    t.contracts(0, queries.axis);
    return tie_dimensions(t, {queries, keys, cache(t.in(4)), cache(t.out(1))},
                          {made, values, cache(t.in(5)), cache(t.out(2))},
                          {of_scores(t.in(3), count), of_scores(t.out(3), count)});
  }
  tie_within(t, keys);
  for (const Heads& h :
       {queries, values, made, heads_of(t.in(4), shared), heads_of(t.in(5), shared), heads_of(t.out(1), shared),
        heads_of(t.out(2), shared), of_scores(t.in(3), count), of_scores(t.out(3), count)})
    tie_heads(t, h, keys);
  t.heads(y, made.axis);
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
    if (r.kept.find(q, 3) && size) keep_scale(r, *size);
    return;
  }
  keep_scale(r, heads_of(q, r.view.get_int("q_num_heads", 0)));
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
  tie_batch_and_rows(t, q, t.out());
  for (const Value* x : {k, v}) pin_lengths(t, x);
  if (!t.whole_heads()) return multi_head_dimensions(t, count);
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
}

void rewrite_multi_head_attention(Rewriting& r) {
  keep_scale(r, heads_of(r.node.input(0), r.view.get_int("num_heads", 0)));
  set_heads(r, "num_heads", r.node.input(0));
}

// com.microsoft: x [batch, rows, in], weights [in, queries | keys | values], bias of them
void packed_attention(Ties& t) {
  const int64_t count = t.view.get_int("num_heads", 0);
  const Value *x = t.in(0), *w = t.in(1), *bias = t.in(2);
  if (!w) return t.pin_node(kForm);
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
  t.tie(x, 0, t.out(), 0);
  t.pin(x, 1, "attention is over this axis");
  t.pin(t.out(), 1, "attention is over this axis");
  if (!t.whole_heads()) return packed_dimensions(t, made, sizes);
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
}

void rewrite_packed_attention(Rewriting& r) {
  const Value* w = r.node.input(1);
  const auto* kept = r.kept.find(w, 1);
  if (!kept) return;
  const int64_t third = *Ties::size(*w, 1) / 3, count = r.view.get_int("num_heads", 0);
  const std::vector<int64_t> sizes = r.view.get_ints("qkv_hidden_sizes", {third, third, third});
  keep_scale(r, Heads{w, 1, 0, count, sizes[0] / count});
  set_heads(r, "num_heads", r.node.output(0));
  std::vector<int64_t> left(3);
  for (const int64_t p : *kept) ++left[p < sizes[0] ? 0 : p < sizes[0] + sizes[1] ? 1 : 2];
  if (r.node.attr("qkv_hidden_sizes") || left[0] != left[2]) r.node.set_attr("qkv_hidden_sizes", left);
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
  if (const auto left = heads_left(r, {q, 2, 0, count, size})) r.node.set_attr("num_heads", *left);
  const auto few = heads_left(r, k ? Heads{k, 2, 0, shared, size} : Heads{q, 2, count * size, shared, size});
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
    if (rank == 4 || !t.whole_heads()) t.pin(v, rank - 1, "it turns pairs of this axis");
}

void rewrite_rotary_embedding(Rewriting& r) {
  if (r.node.attr("num_heads")) set_heads(r, "num_heads", r.node.input(0));
}

}  // namespace mlopt::prune::rules
