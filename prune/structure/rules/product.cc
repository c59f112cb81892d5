#include "prune/structure/rules.h"

namespace mlopt::prune::rules {

// a [..., n, k] by b [..., k, m]
void matmul(Ties& t) {
  const Value *a = t.in(0), *b = t.in(1), *y = t.out();
  if (Ties::rank(*a) < 2 || Ties::rank(*b) < 2) return t.pin_node("an operand is a vector");
  const int rank = Ties::rank(*y);
  t.tie(a, -1, b, -2);
  t.tie(a, -2, y, -2);
  t.tie(b, -1, y, -1);
  for (const Value* v : {a, b})
    for (int axis = 0; axis < Ties::rank(*v) - 2; ++axis)
      if (Ties::size(*v, axis) != 1) t.tie(v, axis, y, axis + rank - Ties::rank(*v));
  t.produces(a, -2);
  t.produces(b, -1);
  if (t.fixed(*a))
    t.contracts(1, -2);
  else
    t.contracts(0, -1);
  if (t.fixed(*a) || t.fixed(*b)) return;
  for (int axis = 0; axis < rank - 2; ++axis) t.heads(y, axis);
}

void gemm(Ties& t) {
  const Value *a = t.in(0), *b = t.in(1), *c = t.in(2), *y = t.out();
  if (Ties::rank(*a) != 2 || Ties::rank(*b) != 2) return t.pin_node("an operand is no matrix");
  const int inner_a = t.view.get_int("transA", 0) ? 0 : 1, inner_b = t.view.get_int("transB", 0) ? 1 : 0;
  t.tie(a, inner_a, b, inner_b);
  t.tie(a, 1 - inner_a, y, 0);
  t.tie(b, 1 - inner_b, y, 1);
  t.tie_broadcast(c, y);
  t.produces(a, 1 - inner_a);
  t.produces(b, 1 - inner_b);
  if (t.fixed(*a))
    t.contracts(1, inner_b);
  else
    t.contracts(0, inner_a);
}

}  // namespace mlopt::prune::rules
