#include "prune/structure/rules/heads.h"

#include <cmath>
#include <set>

namespace mlopt::prune::rules {

Heads heads_of(const Value* v, int64_t count) {
  if (!v || count < 1) return {};
  const int axis = Ties::rank(*v) == 4 ? 1 : 2;
  const auto size = Ties::size(*v, axis);
  if (Ties::rank(*v) < 3 || !size || *size % count != 0 || (axis == 1 && *size != count)) return {};
  return {v, axis, 0, count, axis == 1 ? 1 : *size / count};
}

Heads of_scores(const Value* v, int64_t count) {
  if (!v || Ties::rank(*v) < 3 || Ties::size(*v, -3) != count) return {};
  return {v, Ties::rank(*v) - 3, 0, count, 1};
}

Heads dimensions_of(Ties& t, const Value* v, int64_t count) {
  if (!v || Ties::rank(*v) != 4) return heads_of(v, count);
  t.pin(v, 1, "its heads stay where dimensions of them go");
  const auto size = Ties::size(*v, 3);
  return size ? Heads{v, 3, 0, 1, *size} : Heads{};
}

void tie_heads(Ties& t, const Heads& a, const Heads& b) {
  if (!a.value || !b.value) return;
  for (int64_t h = 0; h < a.count; ++h)
    for (int64_t j = 0; j < a.size; ++j)
      t.tie(a.value, a.axis, a.first + h * a.size + j, b.value, b.axis, b.first + h / (a.count / b.count) * b.size);
}

void tie_within(Ties& t, const Heads& a) {
  for (int64_t i = 0; a.value && i < a.count * a.size; ++i)
    t.tie(a.value, a.axis, a.first + i, a.value, a.axis, a.first + i / a.size * a.size);
}

bool tie_across(Ties& t, std::initializer_list<Heads> all) {
  const Heads& one = *all.begin();
  for (const Heads& heads : all) {
    if (!heads.value) continue;
    if (!one.value || heads.size != one.size) return false;
    for (int64_t i = 0; i < heads.count * heads.size; ++i)
      t.tie(heads.value, heads.axis, heads.first + i, one.value, one.axis, one.first + i % one.size);
  }
  return true;
}

std::optional<int64_t> heads_left(const Rewriting& r, const Heads& heads) {
  const auto* kept = heads.value ? r.kept.find(heads.value, heads.axis) : nullptr;
  if (!kept) return std::nullopt;
  std::set<int64_t> left;
  for (const int64_t p : *kept)
    if (p >= heads.first && p < heads.first + heads.count * heads.size) left.insert((p - heads.first) / heads.size);
  return static_cast<int64_t>(left.size());
}

void set_heads(Rewriting& r, std::string_view attr, const Value* v) {
  const Heads heads = heads_of(v, r.view.get_int(attr, 0));
  if (const auto left = heads_left(r, heads)) r.node.set_attr(attr, *left);
}

void keep_scale(Rewriting& r, int64_t size) {
  if (!r.node.attr("scale")) r.node.set_attr("scale", static_cast<float>(1 / std::sqrt(static_cast<double>(size))));
}

void keep_scale(Rewriting& r, const Heads& queries) {
  const auto* kept = queries.value ? r.kept.find(queries.value, queries.axis) : nullptr;
  if (kept && heads_left(r, queries) == queries.count) keep_scale(r, queries.size);
}

}  // namespace mlopt::prune::rules
