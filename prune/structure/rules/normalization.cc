#include "prune/structure/rules.h"

namespace mlopt::prune::rules {
namespace {

constexpr const char* kStatistics = "its statistics are taken over this axis";

/// Statistics over the last axis become those of what is left of it, where that is asked for and nothing reads them:
/// with it go the last axes of inputs from `first` on, of factors and of what is added.
bool follow_statistics(Ties& t, int first) {
  const Value* x = t.in(0);
  const auto read = [](const Value* v) { return v && (!v->uses.empty() || v->is_output()); };
  if (!t.over_the_rest() || read(t.out(1)) || read(t.out(2)) || !Ties::size(*x, -1)) return false;
  t.tie(x, -1, t.out(), -1);
  for (int i = first; i < static_cast<int>(t.view.node().inputs().size()); ++i)
    if (const Value* v = t.in(i); v && Ties::rank(*v) > 0 && Ties::size(*v, -1) != 1) t.tie(x, -1, v, -1);
  t.normalizes();
  return true;
}

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

/// Channels of a group share their statistics and go together.
void group_normalization(Ties& t) {
  const Value* x = t.in(0);
  const auto channels = Ties::size(*x, 1);
  const int64_t groups = t.view.get_int("num_groups", 0);
  if (channels == groups) return instance_normalization(t);
  if (!channels || groups < 1 || *channels % groups != 0) return t.pin_node("its groups are not known");
  const int64_t part = *channels / groups;
  t.tie(x, 0, t.out(), 0);
  t.tie(x, 1, t.out(), 1);
  for (const Value* v : {x, static_cast<const Value*>(t.out())}) t.pin_from(v, 2, kStatistics);
  for (int64_t c = 0; c < *channels; ++c) {
    t.tie(x, 1, c, x, 1, c - c % part);
    for (const Value* v : {t.in(1), t.in(2)})  // opsets before 21 have one number for each group
      t.tie(v, 0, Ties::size(*v, 0) == groups ? c / part : c, x, 1, c);
  }
}

void rewrite_group_normalization(Rewriting& r) {
  const Value* x = r.node.input(0);
  if (const auto* kept = r.kept.find(x, 1))
    r.node.set_attr("num_groups", std::ssize(*kept) * r.view.get_int("num_groups") / *Ties::size(*x, 1));
}

void layer_normalization(Ties& t) {
  const Value* x = t.in(0);
  int axis = static_cast<int>(t.view.get_int("axis", -1));
  if (axis < 0) axis += Ties::rank(*x);
  for (int a = 0; a < axis; ++a)
    for (const Value* y : t.view.node().outputs())
      if (y) t.tie(x, a, y, a);
  if (axis + 1 == Ties::rank(*x) && follow_statistics(t, 1)) return;
  for (const Value* v : {x, t.out()}) t.pin_from(v, axis, kStatistics);
  for (int i = 1; i < static_cast<int>(t.view.node().inputs().size()); ++i) t.pin_all(t.in(i), kStatistics);
}

// com.microsoft: x + skip (+ bias), normalized over the last axis; the last of four outputs is the sum
void skip_normalization(Ties& t) {
  const Value *x = t.in(0), *skip = t.in(1);
  if (!skip || Ties::rank(*skip) != Ties::rank(*x)) return t.pin_node("what it adds has another rank");
  for (int a = 0; a + 1 < Ties::rank(*x); ++a)
    for (const Value* v : {skip, static_cast<const Value*>(t.out(0)), static_cast<const Value*>(t.out(3))})
      if (v && Ties::size(*v, a) != 1) t.tie(x, a, v, a);
  if (follow_statistics(t, 2)) {
    t.tie(x, -1, skip, -1);
    return t.tie(x, -1, t.out(3), -1);
  }
  for (const Value* v : {x, skip, static_cast<const Value*>(t.out(0)), static_cast<const Value*>(t.out(3))})
    t.pin(v, -1, kStatistics);
  for (int i = 2; i < static_cast<int>(t.view.node().inputs().size()); ++i) t.pin_all(t.in(i), kStatistics);
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
