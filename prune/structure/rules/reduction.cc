#include <algorithm>

#include "core/ir/reduced_axes.h"
#include "prune/structure/rules.h"

namespace mlopt::prune::rules {
namespace {

constexpr const char* kReduced = "it reduces this axis to one number that depends on how many there are";

/// The axes that are not reduced are those of every output.
void tie_rest(Ties& t, const std::vector<bool>& reduced) {
  const bool keep = t.view.get_int("keepdims", 1) != 0;
  int next = 0;
  for (int a = 0; a < Ties::rank(*t.in(0)); ++a) {
    const bool gone = reduced[static_cast<size_t>(a)];
    if (!gone) t.tie(t.in(0), a, t.out(), next);
    if (!gone || keep) ++next;
  }
}

/// Is it a mean over nothing but the axis that layers share, of tokens the last one, of pictures that of channels?
bool is_width(const Ties& t, const std::vector<bool>& reduced, int axis) {
  const int rank = Ties::rank(*t.in(0));
  return t.view.node().op == "ReduceMean" && std::count(reduced.begin(), reduced.end(), true) == 1 &&
         (axis == rank - 1 || (rank >= 4 && axis == 1));
}

void reduce_with(Ties& t, bool adds) {
  const auto reduced = reduced_axes(t.view, static_cast<size_t>(Ties::rank(*t.in(0))));
  if (!reduced) return t.pin_node("what it reduces is computed at run time");
  tie_rest(t, *reduced);
  for (int a = 0; a < Ties::rank(*t.in(0)); ++a) {
    if (!(*reduced)[static_cast<size_t>(a)]) continue;
    if (adds)
      t.contracts(0, a);
    else if (t.over_the_rest() && is_width(t, *reduced, a))
      t.averages(0, a);
    else
      t.pin(t.in(0), a, kReduced);
  }
}

}  // namespace

void reduce_sum(Ties& t) { reduce_with(t, true); }

void reduce(Ties& t) { reduce_with(t, false); }

void arg_extreme(Ties& t) {
  const int rank = Ties::rank(*t.in(0));
  std::vector<bool> reduced(static_cast<size_t>(rank));
  int64_t axis = t.view.get_int("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return t.pin_node("its axis is out of range");
  reduced[static_cast<size_t>(axis)] = true;
  tie_rest(t, reduced);
  t.pin(t.in(0), static_cast<int>(axis), "it gives positions on this axis");
}

void top_k(Ties& t) {
  int64_t axis = t.view.get_int("axis", -1);
  if (axis < 0) axis += Ties::rank(*t.in(0));
  for (const Value* y : t.view.node().outputs())
    for (int a = 0; y && a < Ties::rank(*y); ++a)
      if (a != axis) t.tie(t.in(0), a, y, a);
  for (const Value* v : {t.in(0), t.out(0), t.out(1)}) t.pin(v, static_cast<int>(axis), "it sorts this axis");
}

}  // namespace mlopt::prune::rules
