#include "prune/structure/rules.h"

namespace mlopt::prune::rules {
namespace {

int64_t gates(const Node& node) { return node.op == "LSTM" ? 4 : node.op == "GRU" ? 3 : 1; }

}  // namespace

// x [time, batch, inputs] (layout 1: batch first), w [directions, gates * hidden, inputs], r [directions, gates *
// hidden, hidden], b [directions, 2 * gates * hidden], p [directions, 3 * hidden], states [directions, batch, hidden]
void recurrent(Ties& t) {
  const Node& node = t.view.node();
  const Value *x = t.in(0), *w = t.in(1), *r = t.in(2), *b = t.in(3), *p = t.in(7);
  const auto hidden = Ties::size(*r, 2);
  if (!hidden || Ties::size(*w, 1) != gates(node) * *hidden) return t.pin_node("the shape of its weights is not known");
  const bool batch_first = t.view.get_int("layout", 0) != 0;
  t.tie(x, 2, w, 2);
  t.contracts(0, 2);
  t.contracts(2, 2);
  t.produces(r, 1);
  for (const Value* v : {w, r, b, p}) t.pin(v, 0, "it runs in these directions");
  for (int64_t j = 0; j < *hidden; ++j) {
    for (int64_t g = 0; g < gates(node); ++g) {
      t.tie(w, 1, g * *hidden + j, r, 2, j);
      t.tie(r, 1, g * *hidden + j, r, 2, j);
      if (b) t.tie(b, 1, g * *hidden + j, r, 2, j);
      if (b) t.tie(b, 1, (gates(node) + g) * *hidden + j, r, 2, j);
    }
    for (int64_t g = 0; p && g < 3; ++g) t.tie(p, 1, g * *hidden + j, r, 2, j);
  }
  for (const Value* state : {t.in(5), t.in(6), t.out(1), t.out(2)}) {
    t.tie(state, 2, r, 2);
    t.pin(state, batch_first ? 1 : 0, "it runs in these directions");
    t.tie(state, batch_first ? 0 : 1, x, batch_first ? 0 : 1);
  }
  if (const Value* y = t.out()) {
    t.tie(y, 3, r, 2);
    t.pin(y, batch_first ? 2 : 1, "it runs in these directions");
    t.tie(y, 0, x, 0);
    t.tie(y, batch_first ? 1 : 2, x, 1);
  }
  t.pin(x, batch_first ? 1 : 0, "it runs along this axis");
  t.pin_all(t.in(4), "these are lengths");
}

void rewrite_recurrent(Rewriting& r) {
  if (const auto* kept = r.kept.find(r.node.input(2), 2))
    r.node.set_attr("hidden_size", static_cast<int64_t>(kept->size()));
}

}  // namespace mlopt::prune::rules
