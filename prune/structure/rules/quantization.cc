#include "prune/structure/rules.h"

namespace mlopt::prune::rules {

/// Scales and zero points for each entry of an axis go with it.
void quantization(Ties& t) {
  const Value *x = t.in(0), *y = t.out();
  t.tie_all(x, y);
  auto axis = static_cast<int>(t.view.get_int("axis", 1));
  if (axis < 0) axis += Ties::rank(*x);
  for (const Value* v : {t.in(1), t.in(2)}) {
    if (!v || Ties::rank(*v) == 0) continue;
    if (Ties::rank(*v) == 1 && Ties::size(*v, 0) == 1) continue;
    if (Ties::rank(*v) == 1)
      t.tie(v, 0, x, axis);
    else
      return t.pin_node("its scales are those of blocks");
  }
}

}  // namespace mlopt::prune::rules
