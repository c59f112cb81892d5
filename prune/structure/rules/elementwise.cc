#include "prune/structure/rules.h"

namespace mlopt::prune::rules {

void unary(Ties& t) {
  for (const Value* y : t.view.node().outputs()) t.tie_all(t.in(0), y);  // Dropout has a mask
}

void broadcast(Ties& t) {
  const Value* y = t.out();
  // The first opsets align the second operand with an axis of the first.
  const bool legacy = t.view.opset() < 7 && t.view.node().domain.empty() && t.view.has("axis") && t.in(1);
  for (int i = 0; i < static_cast<int>(t.view.node().inputs().size()); ++i) {
    if (legacy && i == 1) {
      const int from = static_cast<int>(t.view.get_int("axis"));
      for (int axis = 0; axis < Ties::rank(*t.in(1)); ++axis)
        if (Ties::size(*t.in(1), axis) != 1) t.tie(t.in(1), axis, y, from + axis);
    } else {
      t.tie_broadcast(t.in(i), y);
    }
  }
}

}  // namespace mlopt::prune::rules
