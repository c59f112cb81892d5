// Identity(x) -> x. Kept where it carries a graph input, a constant or another output to an output: names never change.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder&) {
  Value* x = m.value("x");
  const Value* y = m.root->output(0);
  if (y->is_output() && (!x->producer || x->is_output() || x->graph != y->graph || x->constant))
    return Decline{"it gives an output of the graph its name"};
  return Replacement{x};
}

std::vector<Rule> rules() { return {{Pattern::op("Identity", {Pattern::any("x")}), rewrite}}; }

}  // namespace

const Pass eliminate_identity = {"eliminate_identity", "remove Identity", rules};

}  // namespace mlopt::graphopt
