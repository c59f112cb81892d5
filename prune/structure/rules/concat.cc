#include "prune/structure/rules.h"

namespace mlopt::prune::rules {
namespace {

int axis_of(const Ties& t, int64_t otherwise) {
  const auto axis = static_cast<int>(t.view.get_int("axis", otherwise));
  return axis < 0 ? axis + Ties::rank(*t.in(0)) : axis;
}

/// Parts of `whole` one after the other.
void tie_parts(Ties& t, const Value* whole, const std::vector<Value*>& parts, int axis) {
  bool known = Ties::size(*whole, axis).has_value();
  for (const Value* p : parts) known = known && p && Ties::size(*p, axis);
  int64_t offset = 0;
  for (const Value* p : parts) {
    if (!p) continue;
    for (int a = 0; a < Ties::rank(*p); ++a)
      if (a != axis) t.tie(p, a, whole, a);
    if (!known) {
      t.pin(p, axis, "the length of this axis is not known");
      continue;
    }
    const int64_t n = *Ties::size(*p, axis);
    for (int64_t i = 0; i < n; ++i) t.tie(p, axis, i, whole, axis, offset + i);
    offset += n;
  }
  if (!known) t.pin(whole, axis, "the length of this axis is not known");
}

}  // namespace

void concat(Ties& t) { tie_parts(t, t.out(), t.view.node().inputs(), axis_of(t, 1)); }

void split(Ties& t) { tie_parts(t, t.in(0), t.view.node().outputs(), axis_of(t, 0)); }

/// Sizes are written out, also where they were equal and left out.
void rewrite_split(Rewriting& r) {
  const Value* x = r.node.input(0);
  auto axis = static_cast<int>(r.view.get_int("axis", 0));
  if (axis < 0) axis += static_cast<int>(x->type.dims->size());
  if (!r.kept.find(x, axis)) return;
  std::vector<int64_t> sizes;
  for (const Value* y : r.node.outputs()) sizes.push_back(r.kept.size(y, axis).value());
  r.node.remove_attr("num_outputs");
  r.set_ints("split", 1, 13, sizes);
}

}  // namespace mlopt::prune::rules
