#include "prune/structure/rules.h"

namespace mlopt::prune::rules {

void pool(Ties& t) {
  const Value *x = t.in(0), *y = t.out();
  t.tie(x, 0, y, 0);
  t.tie(x, 1, y, 1);
  for (const Value* v : {x, y}) t.pin_from(v, 2, "it slides along this axis");
  if (t.out(1) && !t.out(1)->uses.empty()) {
    t.pin_all(x, "it gives positions");
    t.pin_all(t.out(1), "it gives positions");
  }
}

/// An axis of unchanged size passes through.
void resize(Ties& t) {
  const Value *x = t.in(0), *y = t.out();
  for (int axis = 0; axis < Ties::rank(*x); ++axis) {
    const auto before = Ties::size(*x, axis), after = Ties::size(*y, axis);
    if (before && before == after && axis < 2) {
      t.tie(x, axis, y, axis);
      continue;
    }
    t.pin(x, axis, "it is resized");
    t.pin(y, axis, "it is resized");
  }
}

void rewrite_resize(Rewriting& r) {
  if (r.node.op == "Resize" && r.node.input(3) && !r.view.has("axes")) r.want_shape(3, r.node.output(0));
}

}  // namespace mlopt::prune::rules
