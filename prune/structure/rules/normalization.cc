#include "prune/structure/rules.h"

namespace mlopt::prune::rules {
namespace {

constexpr const char* kStatistics = "its statistics are taken over this axis";

}  // namespace

void batch_normalization(Ties& t) {
  t.tie_all(t.in(0), t.out());
  for (int i = 1; i < 5; ++i)
    if (t.in(i)) t.tie(t.in(i), 0, t.in(0), 1);
  for (int i = 1; i < static_cast<int>(t.view.node().outputs().size()); ++i)
    if (t.out(i)) t.tie(t.out(i), 0, t.in(0), 1);
}

void instance_normalization(Ties& t) {
  t.tie(t.in(0), 0, t.out(), 0);
  t.tie(t.in(0), 1, t.out(), 1);
  for (int i = 1; i < 3; ++i) t.tie(t.in(i), 0, t.in(0), 1);
  for (const Value* v : {t.in(0), t.out()}) t.pin_from(v, 2, kStatistics);
}

/// Groups of one channel are independent; larger ones share their statistics.
void group_normalization(Ties& t) {
  if (Ties::size(*t.in(0), 1) == t.view.get_int("num_groups")) return instance_normalization(t);
  t.tie(t.in(0), 0, t.out(), 0);
  for (const Value* v : {t.in(0), t.out(), t.in(1), t.in(2)})
    t.pin_from(v, v == t.in(0) || v == t.out() ? 1 : 0, kStatistics);
}

void rewrite_group_normalization(Rewriting& r) {
  if (const auto* kept = r.kept.find(r.node.input(0), 1))
    r.node.set_attr("num_groups", static_cast<int64_t>(kept->size()));
}

void layer_normalization(Ties& t) {
  const Value* x = t.in(0);
  int axis = static_cast<int>(t.view.get_int("axis", -1));
  if (axis < 0) axis += Ties::rank(*x);
  for (int a = 0; a < axis; ++a)
    for (const Value* y : t.view.node().outputs())
      if (y) t.tie(x, a, y, a);
  for (const Value* v : {x, t.out()}) t.pin_from(v, axis, kStatistics);
  for (int i = 1; i < static_cast<int>(t.view.node().inputs().size()); ++i) t.pin_all(t.in(i), kStatistics);
}

/// One axis; before opset 13 all from an axis on.
void softmax(Ties& t) {
  const bool all_from = t.view.opset() < 13 && t.view.node().op != "LpNormalization";
  int axis = static_cast<int>(t.view.get_int("axis", all_from ? 1 : -1));
  if (axis < 0) axis += Ties::rank(*t.in(0));
  for (int a = 0; a < Ties::rank(*t.in(0)); ++a) {
    t.tie(t.in(0), a, t.out(), a);
    if (a == axis || (all_from && a > axis)) t.pin(t.in(0), a, "every element of this axis changes the others");
  }
}

void over_channels(Ties& t) {
  t.tie_all(t.in(0), t.out());
  t.pin(t.in(0), 1, "it mixes neighbouring channels");
}

}  // namespace mlopt::prune::rules
