// Reshape(x) -> x, Flatten(x) -> x where the shape is provably the same.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// All axes agree but at most one, which then agrees too because the element count does.
bool same_shape(const std::optional<SymDims>& x, const std::optional<SymDims>& y) {
  if (!x || !y || x->size() != y->size()) return false;
  int open = 0;
  for (size_t i = 0; i < x->size(); ++i) {
    if ((*x)[i].is(0)) return false;  // then the count says nothing
    if ((*x)[i] == (*y)[i]) continue;
    if ((*x)[i].known() && (*y)[i].known()) return false;
    ++open;
  }
  return open <= 1;
}

Expected<Replacement> rewrite(const Match& m, Builder&) {
  Value* x = m.value("x");
  if (!same_shape(x->type.dims, m.root->output(0)->type.dims)) return Decline{"it may change the shape"};
  return Replacement{x};
}

std::vector<Rule> rules() { return {{Pattern::op("Reshape|Flatten", {Pattern::any("x")}).open(), rewrite}}; }

}  // namespace

const Pass eliminate_nop_reshape = {"eliminate_nop_reshape", "remove Reshape and Flatten to the shape that a value has",
                                    rules};

}  // namespace mlopt::graphopt
